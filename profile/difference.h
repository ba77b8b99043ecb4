/*
 * difference.h - what changed between the recordings of two sides, A (0) and B (1): for each path and each function the change
 * from A to B, and how large one must be to be more than chance.
 *
 * Chance is told from what there is:
 *   one recording a side     the samples' order: both recordings are cut into as many cells of time, and the noise is that of the
 *                            sum of the cells' differences (chance.h). So what both do at the same part of their time, as programs
 *                            that have phases, is no noise. How the program changes from run to run is not known then.
 *   several on a side        their changes from run to run, taken to be as large on both sides
 *   trees of counted calls   one a side: none, they are exact
 * Sampling alone is noise, too: it is never taken for less than that of independent samples. Weight that is not sure to be on
 * its path (placed_sample.probability) is added to the bound.
 *
 * A change that independent samples would seldom make, but chance as told above may, is unclear: these recordings cannot tell. How
 * many a side would, or how much longer ones, is what the noise that was found makes of it.
 *
 * The weights of both sides are compared as well, and judged for themselves, at 5%: shares do not show that all takes longer.
 * One recording a side does not tell how much a run's weight varies by chance: its change is unclear at best, and of weights
 * (absolute), what of a row's change may be its part of that is added to the bound.
 *
 * Rows that weigh less than a given share, on average of A and B, are not compared. Among the others at most 5% of those called
 * a change are expected to be chance, and if nothing changed, at most 5% of comparisons call anything (chance_level()).
 */
#ifndef FATHOM_PROFILE_DIFFERENCE_H
#define FATHOM_PROFILE_DIFFERENCE_H

#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "profile/contexts.h"

#define DIFFERENCE_RATE 0.05 /* of changes called that may be chance */

struct difference;

struct difference_options {
    bool absolute;        /* values are weights of a recording, rather than shares of its weight */
    double least_percent; /* of the weight, on the average of A and B: lighter rows are not compared */
};

/* One row: values are shares (1: all) or weights, the means of the side's recordings. */
struct change {
    double a, b;
    double sampling;    /* what sampling alone makes of it at most; 0 if it was not compared */
    double bound;       /* b - a is called a change if it is larger; 0 if it was not compared */
    double probability; /* that chance makes such a change; 1 if it was not compared */
    bool compared, called;
    bool unclear; /* not called, but more than sampling alone makes */
    double
        recordings; /* a side, that would tell an unclear change of this size; INFINITY: no number, as it is not sure */
    double longer; /* how many times as long recordings would have to be; INFINITY: that would not help */
};

/* How far it went, for sorting: changes that are equal but for rounding are equal. */
static inline double change_far(const struct change *change)
{
    double far = change->b > change->a ? change->b - change->a : change->a - change->b;
    return nearbyint(far * 1e9);
}

struct difference_side {
    size_t recordings;
    uint64_t samples, weight, unknown; /* weight: of all; unknown: of it, without a context */
};

/* What was found; borrowed, until difference_free(). */
struct changes {
    struct cct
        *tree; /* the paths of both sides; two values: the weight that ends there in A's and B's recordings */
    const struct frames *frames;
    const struct difference *of;
    const struct change
        *paths; /* by number of the node (changes_path()): with all below. [0] is of the whole */
    const struct change *selves, *totals; /* of functions, by item: at their end, anywhere on the path */
    struct difference_side sides[2];
    struct change
        whole;    /* the weights, also where shares are compared; its bound is one of 1 - DIFFERENCE_RATE */
    double level; /* a change's bound is one of 1 - level */
    size_t compared, called, unclear; /* rows */
    bool absolute;
};

/* NULL: out of memory. */
struct difference *difference_new(const struct difference_options *options);
void difference_free(struct difference *difference);
/* Adds a recording to a side, by its first metric; nothing is borrowed. Contexts without samples are those of counted calls.
 * -ENOMEM; -ENODATA: there is no weight to compare. */
int difference_add(struct difference *difference, unsigned side, const struct contexts *contexts,
                   struct fathom_error *err);
/* Once, when both sides have a recording. */
int difference_find(struct difference *difference, struct changes *out, struct fathom_error *err);
/* Of a node of the tree. */
const struct change *changes_path(const struct changes *changes, const struct cct_node *node);

#endif
