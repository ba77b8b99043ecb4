/*
 * scaling.h - scales the samples of events that were on only in some intervals of a recording, chosen by their phases (hybrid
 * profiling: phase-aware remote profiling, section 4, "weights"): each represents all intervals of its phase.
 *
 * A part of the trailer: u32 version, u32 number of steps, u64 events, u64 intervals, u64 sampled, f64 covered; then each
 * step's u64 time and f64 factor.
 */
#ifndef FATHOM_PERFDATA_SCALING_H
#define FATHOM_PERFDATA_SCALING_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"

struct scaling_step {
    uint64_t from; /* ns of the samples' clock: until the next step's */
    double factor; /* at least 1 */
};

struct scaling {
    struct scaling_step *steps; /* sorted by time */
    size_t count;               /* 0: nothing is scaled */
    uint64_t events;            /* bits: by the events' numbers */
    uint64_t intervals;         /* of equal work, with known phases */
    uint64_t sampled;           /* how many of them had the events on */
    double covered;             /* share of the intervals, 0 to 1, in phases with a sampled one */
};

#define SCALING_EVENTS 64 /* events with larger numbers are not scaled */

void scaling_put(FILE *out, const struct scaling *scaling);
/* Invalid data is ignored: 0, with no steps. The caller owns the steps. -ENOMEM. */
int scaling_take(struct bytes from, struct scaling *out, struct fathom_error *err);
/* A sample's scaled period. *rest: below 1, the fraction that was rounded off earlier periods; 0 initially. */
uint64_t scaling_period(const struct scaling *scaling, uint64_t time, uint64_t period, double *rest);

#endif
