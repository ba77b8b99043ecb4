/*
 * rate_control.h - how often the clocks that read stacks tick: often while what they read is new (novelty.h), rarely otherwise,
 * and within the budget. Clock rates are per second of CPU time, the budget is per second of real time, for all clocks
 * together.
 */
#ifndef FATHOM_INFER_LIVE_RATE_CONTROL_H
#define FATHOM_INFER_LIVE_RATE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATE_CONTROL_CLOCKS 2

/* Dumps per second if all were new. The maximum, 1,000, is reached at a novelty of a tenth, so that of dumps beyond the slowest
 * rate at least one in ten shows something new. Compared with 3,000 and 30,000 in docs/benchmarks.md, "The clock that reads
 * stacks". */
#define RATE_CONTROL_HZ_PER_SHARE 10000.0

struct rate_control_clock {
    double most;  /* Hz */
    double floor; /* Hz: it never ticks more slowly unless the budget is used up; 0: it may stop */
};

struct rate_control_input {
    struct rate_control_clock clocks[RATE_CONTROL_CLOCKS];
    size_t count;
    double burst, rate; /* the budget: initial dumps, and then dumps per second */
    double start;       /* s: start of the budget */
};

/* What a clock did since the start. */
struct rate_control_seen {
    double share;    /* novelty, 0 to 1 */
    uint64_t dumps;  /* taken by it */
    double cpu_time; /* s that the target ran while the clock was on */
};

struct rate_control {
    struct rate_control_input in;
    double now;  /* s, of the last step */
    double cpus; /* seconds of CPU time per second */
    struct {
        double hz; /* as set; 0: stopped */
        uint64_t dumps;
        double cpu_time;
        double over;  /* dumps beyond its rate, taken by threads that still have an older one */
        double until; /* s: it is stopped until then, because of these */
    } clocks[RATE_CONTROL_CLOCKS];
};

/* hz: the clocks' present rates. */
void rate_control_begin(struct rate_control *rates, const struct rate_control_input *input, const double *hz);
/* Sets hz[], the rates from now on; 0: the clock stops. now: s. */
void rate_control_step(struct rate_control *rates, double now, const struct rate_control_seen *seen,
                       double *hz);

/* Whether the clocks that tick have taken more than the budget allows, so that a step is due at once. dumps: of all clocks. */
bool rate_control_is_over(const struct rate_control *rates, double now, uint64_t dumps);

#endif
