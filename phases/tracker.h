/*
 * tracker.h - cuts a run into intervals of equal work, determines the phase of each when it ends, and predicts that of the next
 * one (the paper's section 4.1), from samples as they come. Takes some 20 ns per sample, and 3 us per phase at the end of an
 * interval.
 */
#ifndef FATHOM_PHASES_TRACKER_H
#define FATHOM_PHASES_TRACKER_H

#include "phases/predictor.h"
#include "phases/table.h"

struct phase_options {
    double interval;  /* minimum weight of an interval */
    double threshold; /* for the table */
    unsigned capacity;
};

struct phase_interval {
    uint64_t from, to; /* ns: the interval's times, `to` exclusive */
    double weight, samples;
    uint32_t phase;     /* its number, from 1 */
    uint32_t predicted; /* the phase predicted when it began; 0: none, as for the first */
};

struct phase_sample {
    uint64_t time; /* ns */
    double weight;
    const uint64_t *items; /* for phase_vector_add() */
    size_t count;
};

struct phase_tracker;

struct phase_tracker *phase_tracker_new(const struct phase_options *options); /* NULL: out of memory */
void phase_tracker_free(struct phase_tracker *tracker);
/* Adds a sample; samples come in the order of time, and those with the same time are in one interval. 1: this ended an
 * interval, *ended; 0: it did not; -ENOMEM. */
int phase_tracker_add(struct phase_tracker *tracker, const struct phase_sample *sample,
                      struct phase_interval *ended);
/* Ends the incomplete interval: 1, or 0 if it has no sample. */
int phase_tracker_end(struct phase_tracker *tracker, struct phase_interval *ended);
/* The phase predicted for the present interval; 0: none yet. */
uint32_t phase_tracker_predicted(const struct phase_tracker *tracker);
/* The vector of the interval that ended last; valid until the next call of one of these. */
const struct phase_vector *phase_tracker_vector(const struct phase_tracker *tracker);

#endif
