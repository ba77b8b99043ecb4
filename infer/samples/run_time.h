/*
 * run_time.h - the time that threads ran, on which their contexts last.
 *
 * While a thread waits for a CPU its contexts stay as they are, however long that takes. A sample of a clock
 * (cpu-clock, task-clock) tells it: its period is what the thread ran since the one before. Samples of other
 * events lie in between, by what they say of the time, but never behind the next one of the clock. Without a
 * clock nothing tells how long a thread ran: then it is the time itself.
 */
#ifndef FATHOM_INFER_SAMPLES_RUN_TIME_H
#define FATHOM_INFER_SAMPLES_RUN_TIME_H

#include "perfdata/sample.h"

/* What a sample met. */
struct run_time {
    uint64_t strand; /* process_strand(), which is a thread here */
    uint64_t ran;    /* how long that had run by then, in ns since an unknown start */
};

struct run_times;

/* clock: samples of this event are a clock's; RUN_TIME_NO_CLOCK: there is none. NULL: out of memory. */
#define RUN_TIME_NO_CLOCK UINT32_MAX
struct run_times *run_times_new(uint32_t clock);
void run_times_free(struct run_times *times);
/* The next sample of its strand: tells how long that had run. 0 or -ENOMEM. */
int run_times_pass(struct run_times *times, const struct sample *sample, struct run_time *run);

#endif
