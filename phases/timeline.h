/*
 * timeline.h - the phases of a whole run: its intervals, what phases they are of, and which interval represents each phase.
 *
 * A tracker tells the phases one after the other, each by what was known then. With all intervals at hand, each is given to the
 * nearest phase again, by the means of them all.
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
    uint32_t runs;   /* times that it began */
    double spread;   /* mean distance of its intervals from their mean */
    uint32_t chosen; /* the interval that represents it */
};

struct timeline;

/* Copied. NULL: out of memory. */
struct timeline *timeline_new(const struct phase_options *options);
void timeline_free(struct timeline *timeline); /* NULL is allowed */
/* As phase_tracker_add(). -ERANGE: there are more than PHASE_INTERVALS_MAX intervals. */
int timeline_add(struct timeline *timeline, const struct phase_sample *sample, struct fathom_error *err);
/* Once, after the last sample. */
int timeline_end(struct timeline *timeline, struct fathom_error *err);
/* Then, any number of times: chooses the intervals that represent the phases. */
void timeline_choose(struct timeline *timeline, enum phase_policy policy);

/* Then, borrowed: in the order of time. */
const struct phase_interval *timeline_intervals(const struct timeline *timeline, uint32_t *count);
/* By number: the first one is phase 1, that of the first interval; the others follow in the order in which they begin. */
const struct phase *timeline_phases(const struct timeline *timeline, uint32_t *count);
/* The phase of a time; 0: it is before the first interval, or after the last. */
uint32_t timeline_phase_at(const struct timeline *timeline, uint64_t time);
/* How many of the intervals but the first were predicted right, and would have been by "the phase goes on"; of the phases as the
 * tracker told them. */
void timeline_predicted(const struct timeline *timeline, uint32_t *right, uint32_t *lasting);

#endif
