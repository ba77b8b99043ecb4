/*
 * filters.h - seccomp filters: system calls that the runtime needs may be forbidden, and kill.
 */
#ifndef FATHOM_PATHMAP_PROBE_FILTERS_H
#define FATHOM_PATHMAP_PROBE_FILTERS_H

#include <stdint.h>

/* How many filters this process runs under; 0 when the kernel does not tell. Makes no system calls but those
 * that the loader has just made: openat, read, close. */
uint32_t filters_count(void);

#endif
