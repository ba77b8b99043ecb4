/*
 * agreement.h - how far from the root the possible paths of a sample agree, and how sure that is at each
 * depth.
 *
 * Each set of paths is sorted by function once. Paths that share their outermost functions are then adjacent,
 * so evaluating a sample's probabilities takes one pass.
 */
#ifndef FATHOM_PROFILE_AGREEMENT_H
#define FATHOM_PROFILE_AGREEMENT_H

#include "infer/contexts/resolver.h"

struct agreement;

/* The paths that share the outermost `depth` functions. */
struct agreed_step {
    uint32_t fork;  /* index of the common beginning: less than the number of paths */
    uint32_t depth; /* functions */
    double probability;
};

struct agreed {
    uint32_t node;  /* of a path that begins with these `depth` functions */
    uint32_t depth; /* functions; 0: not even the outermost one is sure enough */
    uint32_t fork;  /* as in a step; not set when `whole` */
    uint32_t paths; /* how many of them have 99% of the probability below; 1 if whole */
    bool whole;     /* all of node's functions */
    /* Of the sample's path beginning like this (whole: being this path); depth 0: 1. */
    double probability;
    /* Shorter beginnings with higher probability, from longest to shortest, without the empty one. */
    struct agreed_step steps[CANDIDATES_MAX];
    uint32_t step_count;
};

/* paths: at most CANDIDATES_MAX different ones, in any order. 0, -ENOMEM, -EBADMSG (the map is damaged). */
int agreement_new(const struct pathmap *map, const struct candidate_path *paths, uint32_t count,
                  struct agreement **out, struct fathom_error *err);
void agreement_free(struct agreement *agreement);
/* The same paths with the probabilities of one sample, the most probable first. The longest beginning that
 * has a probability of at least `wanted`: `wanted` must be at least a half, so that this is unique. wanted 0:
 * the whole path of paths[0]. */
void agreement_find(const struct agreement *agreement, const struct candidate_path *paths, uint32_t count,
                    double wanted, struct agreed *out);

#endif
