/*
 * filters.h - seccomp filters, which may forbid system calls that the runtime needs and kill the process.
 */
#ifndef FATHOM_PATHMAP_PROBE_FILTERS_H
#define FATHOM_PATHMAP_PROBE_FILTERS_H

#include <stdint.h>

/* The number of filters that this process runs under; 0 if unknown. Makes only system calls that the loader
 * has just made: openat, read, close. */
uint32_t filters_count(void);

#endif
