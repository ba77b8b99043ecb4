/*
 * tracker.h - cuts a run into intervals of equal work, tells the phase of each when it ends, and predicts that of the next one (the
 * paper's section 4.1), from samples as they come. Takes some 20 ns a sample, and 3 us for each phase at the end of an interval.
 */
#ifndef FATHOM_PHASES_TRACKER_H
#define FATHOM_PHASES_TRACKER_H

#include "phases/predictor.h"
#include "phases/table.h"

struct phase_options {
    double interval;  /* the least weight of an interval */
    double threshold; /* as of the table */
    unsigned capacity;
};

struct phase_interval {
    uint64_t from, to; /* ns: it has the samples of these times, the second excluded */
    double weight, samples;
    uint32_t phase;     /* by its number from 1 on */
    uint32_t predicted; /* what it was predicted to be when it began; 0: nothing, as of the first */
};

struct phase_sample {
    uint64_t time; /* ns */
    double weight;
    const uint64_t *items; /* as of phase_vector_add() */
    size_t count;
};

struct phase_tracker;

struct phase_tracker *phase_tracker_new(const struct phase_options *options); /* NULL: out of memory */
void phase_tracker_free(struct phase_tracker *tracker);
/* A sample; samples come in the order of time, and those of one time are in one interval. 1: an interval had ended before it,
 * and *ended is that; 0: none had; -ENOMEM. */
int phase_tracker_add(struct phase_tracker *tracker, const struct phase_sample *sample,
                      struct phase_interval *ended);
/* Ends the interval that is not yet complete: 1, or 0 if it has no sample. */
int phase_tracker_end(struct phase_tracker *tracker, struct phase_interval *ended);
/* What the interval that is filled was predicted to be; 0: nothing yet. */
uint32_t phase_tracker_predicted(const struct phase_tracker *tracker);
/* What the interval that ended last consists of; good until the next call of one of these. */
const struct phase_vector *phase_tracker_vector(const struct phase_tracker *tracker);

#endif
