/*
 * difference.h - what changed between the recordings of two sides, A (0) and B (1): for each path and each function the change
 * from A to B, and how large one must be to be more than chance.
 *
 * Chance is estimated from what there is:
 *   one recording per side   the samples' order: both recordings are cut into the same number of cells of time, and the noise is
 *                            that of the sum of the cells' differences (chance.h). So what both do at the same part of their time,
 *                            as programs with phases, is no noise. How the program changes from run to run is not known then.
 *   several on a side        their changes from run to run, assumed to be as large on both sides
 *   trees of counted calls   one per side: none, they are exact
 * The noise is never assumed to be less than that of independent samples. Weight that may not be on its path
 * (placed_sample.probability) is added to the bound.
 *
 * A change that independent samples would seldom make, but chance as estimated above may, is unclear: these recordings cannot
 * decide it. The noise that was found says how many recordings per side would, or how much longer ones.
 *
 * The weights of both sides are compared as well, separately, at 5%: shares do not show that everything takes longer. One
 * recording per side does not show how much a run's weight varies by chance: its change is unclear at best, and if weights are
 * compared (absolute), each row's share of that change is added to its bound.
 *
 * Rows that weigh less than a given share, on average of A and B, are not compared. Of the others, at most 5% of those called a
 * change are expected to be chance, and if nothing changed, at most 5% of comparisons call anything (chance_level()).
 */
#ifndef FATHOM_PROFILE_DIFFERENCE_H
#define FATHOM_PROFILE_DIFFERENCE_H

#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "profile/contexts.h"

#define DIFFERENCE_RATE 0.05 /* expected share of chance among the changes called */

struct difference;

struct difference_options {
    bool absolute;        /* compares recordings' weights, not shares of their weight */
    double least_percent; /* rows below this share of the weight, on average of A and B, are not compared */
};

/* One row: values are shares (1: everything) or weights, means over the side's recordings. */
struct change {
    double a, b;
    double sampling;    /* the most that sampling alone makes of it; 0 if it was not compared */
    double bound;       /* b - a is called a change if it exceeds this; 0 if it was not compared */
    double probability; /* that chance makes such a change; 1 if it was not compared */
    bool compared, called;
    bool unclear; /* not called, but more than sampling alone makes */
    /* per side that would call an unclear change of this size; INFINITY: no number would, as its weight is uncertain */
    double recordings;
    double longer; /* the same with recordings this many times as long; INFINITY: that would not help */
};

/* The size of a change for sorting: those that differ only by rounding are equal. */
static inline double change_far(const struct change *change)
{
    double far = change->b > change->a ? change->b - change->a : change->a - change->b;
    return nearbyint(far * 1e9);
}

struct difference_side {
    size_t recordings;
    /* weight: of all samples; unknown: the part of it without a context */
    uint64_t samples, weight, unknown;
};

/* What was found; borrowed, until difference_free(). */
struct changes {
    /* paths of both sides; its two values are the weights that end there in A's and B's recordings */
    struct cct *tree;
    const struct frames *frames;
    const struct difference *of;
    /* by number of the node (changes_path()): with everything below. [0] is the whole */
    const struct change *paths;
    /* of functions, by item: where they are innermost, and anywhere on the path */
    const struct change *selves, *totals;
    struct difference_side sides[2];
    /* the weights, even if shares are compared; its bound is that of level DIFFERENCE_RATE */
    struct change whole;
    double level;                     /* of a change's bound: probability 1 - level */
    size_t compared, called, unclear; /* rows */
    bool absolute;
};

/* NULL: out of memory. */
struct difference *difference_new(const struct difference_options *options);
void difference_free(struct difference *difference);
/* Adds a recording to a side, by its first metric; nothing is borrowed. Contexts without samples are counted calls. -ENOMEM;
 * -ENODATA: there is no weight to compare. */
int difference_add(struct difference *difference, unsigned side, const struct contexts *contexts,
                   struct fathom_error *err);
/* Call it once, when both sides have a recording. */
int difference_find(struct difference *difference, struct changes *out, struct fathom_error *err);
/* The change of a node of the tree. */
const struct change *changes_path(const struct changes *changes, const struct cct_node *node);

#endif
