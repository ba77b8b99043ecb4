/*
 * agreement.h - how far from the root the possible paths of a sample agree, and how sure that is at each depth. A path whose n
 * innermost calls were never seen is right with probability r^n, where r is the rate of calibration.h. If it is wrong, the
 * first of these calls is as often in the wrong place as any other, and the error mostly does not extend far outwards: a
 * beginning with j < n of the calls is right with r^(j + 1), and one that ends m frames outside of the first with 1 - (1 - r)
 * r^m (docs/benchmarks.md, "How far beginnings can be believed"). Likewise, the frames that were seen are all right with a
 * probability s: those up to m frames outside of the innermost call among them with 1 - (1 - s) s^m.
 *
 * Each set of paths is sorted by function once. Paths that share their outermost functions are then adjacent, so evaluating a
 * sample's probabilities takes one pass.
 */
#ifndef FATHOM_PROFILE_AGREEMENT_H
#define FATHOM_PROFILE_AGREEMENT_H

#include "infer/contexts/resolver.h"

struct agreement;

/* The paths that share the outermost `depth` functions. */
struct agreed_step {
    /* rank of the first path that diverges from others at `depth`; the number of paths or more: none does */
    uint32_t fork;
    uint32_t depth; /* functions */
    double probability;
};

/* where paths diverge, and 20 powers of 2 to both sides of a call */
#define AGREED_STEPS (CANDIDATES_MAX + 40)

struct agreed {
    uint32_t node;  /* of a path that begins with these `depth` functions */
    uint32_t depth; /* functions; 0: not even the outermost one is probable enough */
    uint32_t fork;  /* as in a step; not set when `whole` */
    uint32_t paths; /* how many paths make up 99% of the probability below; 1 if whole */
    bool whole;     /* all of node's functions */
    /* The probability that the sample's path begins like this (whole: that it is this path); depth 0: 1. */
    double probability;
    /* Shorter beginnings with higher probability, from longest to shortest, without the empty one. */
    struct agreed_step steps[AGREED_STEPS];
    uint32_t step_count;
};

/* paths: at most CANDIDATES_MAX different ones, in any order. 0, -ENOMEM, -EBADMSG (the map is damaged). */
int agreement_new(const struct pathmap *map, const struct candidate_path *paths, uint32_t count,
                  struct agreement **out, struct fathom_error *err);
void agreement_free(struct agreement *agreement);
/* For the same paths (`posterior`), with one sample's probabilities: the longest beginning with a probability of at least
 * `wanted`, which must be at least a half, so that it is unique. wanted 0: the whole path of posterior[0]. */
void agreement_find(const struct agreement *agreement, const struct resolved *sample, double wanted,
                    struct agreed *out);

#endif
