/* kernel_interrupts.h - where the running kernel's entries of interrupts are. */
#ifndef FATHOM_COLLECTOR_VERIFY_KERNEL_INTERRUPTS_H
#define FATHOM_COLLECTOR_VERIFY_KERNEL_INTERRUPTS_H

#include <stdbool.h>

#include "collector/verify/verify_wire.h"

/* By the names of Linux 5.8 and later (arch/x86/include/asm/idtentry.h), of /proc/kallsyms. false: the kernel hides its addresses, or has none of them;
 * *out: nothing is an interrupt's then. */
bool kernel_interrupts_find(struct verify_interrupts *out);

#endif
