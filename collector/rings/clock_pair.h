/*
 * clock_pair.h - reads one moment on two clocks: CLOCK_MONOTONIC, and the clock of recordings whose events
 * request none (perf_event_open(2), use_clockid), the kernel's own, which user space cannot read everywhere.
 */
#ifndef FATHOM_COLLECTOR_RINGS_CLOCK_PAIR_H
#define FATHOM_COLLECTOR_RINGS_CLOCK_PAIR_H

#include <stdint.h>

/* ns each; read at most a few us apart. Errors of perf_event_open(2) and mmap(2); -EIO: the kernel wrote no
 * time. */
int clock_pair_read(uint64_t *monotonic, uint64_t *recording);

#endif
