/*
 * timeline.h - the phases of a whole run: its intervals, the phase of each, and which interval represents each phase.
 *
 * A tracker assigns phases as intervals end, with what is known then. When all intervals are known, each is assigned again to
 * the nearest phase, by the means over all of them.
 */
#ifndef FATHOM_PHASES_TIMELINE_H
#define FATHOM_PHASES_TIMELINE_H

#include "base/error.h"
#include "phases/tracker.h"

#define PHASE_INTERVALS_MAX 16384u /* 4 KB each */

/* Which interval represents a phase (the paper's section 5.3). */
enum phase_policy { PHASE_CENTROID, PHASE_FIRST, PHASE_THIRD, PHASE_RANDOM, PHASE_POLICIES };
extern const char *const phase_policy_names[]; /* "centroid", ... */

struct phase {
    double weight, samples;
    uint32_t intervals;
    uint32_t runs;   /* number of times that it began */
    double spread;   /* mean distance of its intervals from their mean */
    uint32_t chosen; /* the interval that represents it */
};

struct timeline;

/* The options are copied. NULL: out of memory. */
struct timeline *timeline_new(const struct phase_options *options);
void timeline_free(struct timeline *timeline); /* NULL is allowed */
/* As phase_tracker_add(). -ERANGE: there are more than PHASE_INTERVALS_MAX intervals. */
int timeline_add(struct timeline *timeline, const struct phase_sample *sample, struct fathom_error *err);
/* Call it once, after the last sample. */
int timeline_end(struct timeline *timeline, struct fathom_error *err);
/* After timeline_end(), any number of times: chooses the intervals that represent the phases. */
void timeline_choose(struct timeline *timeline, enum phase_policy policy);

/* After timeline_end(): the intervals in the order of time; borrowed. */
const struct phase_interval *timeline_intervals(const struct timeline *timeline, uint32_t *count);
/* By number: the first one is phase 1, that of the first interval; the others follow in the order in which they begin. */
const struct phase *timeline_phases(const struct timeline *timeline, uint32_t *count);
/* The phase at a time; 0: before the first interval, or after the last. */
uint32_t timeline_phase_at(const struct timeline *timeline, uint64_t time);
/* How many intervals after the first were predicted right, and how many would have been by always predicting that the phase
 * continues; for the phases as assigned by the tracker. */
void timeline_predicted(const struct timeline *timeline, uint32_t *right, uint32_t *lasting);

#endif
