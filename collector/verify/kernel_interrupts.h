/* kernel_interrupts.h - finds the running kernel's interrupt entry points. */
#ifndef FATHOM_COLLECTOR_VERIFY_KERNEL_INTERRUPTS_H
#define FATHOM_COLLECTOR_VERIFY_KERNEL_INTERRUPTS_H

#include <stdbool.h>

#include "collector/verify/verify_wire.h"

/* Looks up the names of Linux 5.8 and later (arch/x86/include/asm/idtentry.h) in /proc/kallsyms. false: the
 * kernel hides its addresses, or has none of these names; with *out no address is then in an interrupt. */
bool kernel_interrupts_find(struct verify_interrupts *out);

#endif
