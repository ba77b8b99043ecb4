/*
 * perf_clock.h - the clock by which the kernel gives samples their time, where nothing says another one (local_clock(),
 * kernel/sched/clock.c): it begins elsewhere, and runs a little faster or slower, than CLOCK_MONOTONIC.
 */
#ifndef FATHOM_COLLECTOR_RINGS_PERF_CLOCK_H
#define FATHOM_COLLECTOR_RINGS_PERF_CLOCK_H

#include <stdint.h>

/* What is to be added to clock_ns() now, ns: measured at a page fault of this thread, of which there is a sample. 0 or -errno. */
int perf_clock_offset(int64_t *offset);

#endif
