/*
 * scaling.h - what the samples of events stand for that were on in some intervals of a recording only, chosen by their phases (hybrid
 * profiling: phase-aware remote profiling, section 4, "weights"): each for all intervals of its phase.
 *
 * A part of the trailer: u32 version, u32 number of steps, u64 events, u64 intervals, u64 sampled, f64 covered; then each step's
 * u64 time and f64 factor.
 */
#ifndef FATHOM_PERFDATA_SCALING_H
#define FATHOM_PERFDATA_SCALING_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"

struct scaling_step {
    uint64_t from; /* ns of the samples' clock: from here to the next one's */
    double factor; /* at least 1 */
};

struct scaling {
    struct scaling_step *steps; /* in the order of times */
    size_t count;               /* 0: nothing is scaled */
    uint64_t events;            /* a bit for each event's number */
    uint64_t intervals;         /* of equal work, whose phase is known */
    uint64_t sampled;           /* of them, with the events on */
    double covered;             /* share of the intervals, 0 to 1, that are of phases with a sampled one */
};

#define SCALING_EVENTS 64 /* events with larger numbers are not scaled */

void scaling_put(FILE *out, const struct scaling *scaling);
/* What is not as described is left out: 0, with no steps. Otherwise they are the caller's to free. -ENOMEM. */
int scaling_take(struct bytes from, struct scaling *out, struct fathom_error *err);
/* A sample's period, scaled. *rest: below 1, what earlier ones were rounded down by; 0 at first. */
uint64_t scaling_period(const struct scaling *scaling, uint64_t time, uint64_t period, double *rest);

#endif
