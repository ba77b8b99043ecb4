/*
 * clock_pair.h - one moment by two clocks: CLOCK_MONOTONIC, and that of recordings for whose events no clock is asked (perf_event_open(2), use_clockid), the
 * kernel's own, which user space cannot read everywhere.
 */
#ifndef FATHOM_COLLECTOR_RINGS_CLOCK_PAIR_H
#define FATHOM_COLLECTOR_RINGS_CLOCK_PAIR_H

#include <stdint.h>

/* ns each; they differ by some us at most. Errors of perf_event_open(2) and mmap(2); -EIO: the kernel told no time. */
int clock_pair_read(uint64_t *monotonic, uint64_t *recording);

#endif
