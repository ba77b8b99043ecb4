/* pfm_cpu.h - how libpfm4 identifies this machine's CPU. (libpfm4's headers clash with the kernel's:
 * pfm.h.) */
#ifndef FATHOM_COLLECTOR_EVENTS_PFM_CPU_H
#define FATHOM_COLLECTOR_EVENTS_PFM_CPU_H

#include <stddef.h>

/* Names of the PMUs of its cores: "skl (Intel Skylake)", or several. "": libpfm4 does not know the CPU. It asks the CPU
 * itself: a name does not mean that the kernel has counters. */
void pfm_cpu(char *out, size_t size);

#endif
