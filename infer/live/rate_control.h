/*
 * rate_control.h - how often the clocks that read stacks are to tick: often while what they read is new (novelty.h), rarely
 * otherwise, and within the budget. Rates are per second of CPU time, the budget is per second of time, in all.
 */
#ifndef FATHOM_INFER_LIVE_RATE_CONTROL_H
#define FATHOM_INFER_LIVE_RATE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATE_CONTROL_CLOCKS 2

/* Dumps per second if all were new; the most, 1,000, are taken from a tenth on, so that of those beyond the slowest
 * rate at least one in ten reads something new. Compared with 3,000 and 30,000 in docs/benchmarks.md, "The clock that
 * reads stacks". */
#define RATE_CONTROL_HZ_PER_SHARE 10000.0

struct rate_control_clock {
    double most;  /* Hz */
    double floor; /* Hz: it never ticks more slowly, but for the budget. 0: it may stop */
};

struct rate_control_input {
    struct rate_control_clock clocks[RATE_CONTROL_CLOCKS];
    size_t count;
    double burst, rate; /* the budget: dumps at first, and then per second */
    double start;       /* s: the budget counts from here */
};

/* What a clock did since the start. */
struct rate_control_seen {
    double share;    /* novelty, 0 to 1 */
    uint64_t dumps;  /* that it took */
    double cpu_time; /* s that the target ran while the clock was on */
};

struct rate_control {
    struct rate_control_input in;
    double now;  /* s, of the last step */
    double cpus; /* seconds of CPU time per second */
    struct {
        double hz; /* as it was told; 0: stopped */
        uint64_t dumps;
        double cpu_time;
        double over;  /* dumps taken beyond its rate: by threads that kept an older one */
        double until; /* s: it stops till then for these */
    } clocks[RATE_CONTROL_CLOCKS];
};

/* hz: the rates that the clocks have now. */
void rate_control_begin(struct rate_control *rates, const struct rate_control_input *input, const double *hz);
/* Sets hz[], the rates from now on; 0: the clock stops. now: s. */
void rate_control_step(struct rate_control *rates, double now, const struct rate_control_seen *seen,
                       double *hz);

/* Whether clocks tick that have taken more than the budget allows, so that a step is due at once. dumps: of all. */
bool rate_control_is_over(const struct rate_control *rates, double now, uint64_t dumps);

#endif
