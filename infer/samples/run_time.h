/*
 * run_time.h - the time that threads ran, by which the duration of contexts is measured.
 *
 * While a thread waits for a CPU its context does not change, however long that takes. A sample of a clock
 * (cpu-clock, task-clock) gives the run time: its period is how long the thread ran since the previous one.
 * Samples of other events are placed in between by their timestamps, but never after the next one of the
 * clock. Without a clock the run time is unknown, and wall-clock time is used.
 */
#ifndef FATHOM_INFER_SAMPLES_RUN_TIME_H
#define FATHOM_INFER_SAMPLES_RUN_TIME_H

#include "perfdata/sample.h"

/* The run time at a sample. */
struct run_time {
    uint64_t thread_key; /* process_thread_key(), called a thread here */
    uint64_t ran;        /* how long it had run by then, in ns since an unknown start */
};

struct run_times;

/* clock: the event that is a clock; RUN_TIME_NO_CLOCK: none. NULL: out of memory. */
#define RUN_TIME_NO_CLOCK UINT32_MAX
struct run_times *run_times_new(uint32_t clock);
void run_times_free(struct run_times *times);
/* Takes the next sample of its thread_key and computes the thread's run time so far. 0 or -ENOMEM. */
int run_times_pass(struct run_times *times, const struct sample *sample, struct run_time *run);

#endif
