/*
 * agreement.h - how far inwards the paths agree that a sample may be on, and how sure that is at each depth.
 *
 * The paths are put in the order of their functions once for each set of them. Those that have their
 * outermost functions in common then stand side by side, so what a sample's probabilities say costs one pass
 * over them.
 */
#ifndef FATHOM_PROFILE_AGREEMENT_H
#define FATHOM_PROFILE_AGREEMENT_H

#include "infer/contexts/resolver.h"

struct agreement;

/* The paths that have the outermost `depth` functions in common. */
struct agreed_step {
    uint32_t fork;  /* which of the set's common beginnings: less than the number of paths */
    uint32_t depth; /* functions */
    double probability;
};

struct agreed {
    uint32_t node;  /* a path's, whose outermost `depth` functions are meant */
    uint32_t depth; /* functions; 0: not even the outermost one is that sure */
    uint32_t fork;  /* as in a step; not set when `whole` */
    uint32_t paths; /* how many of them have 99% of what is known below; 1 when whole */
    bool whole;     /* all of node's functions */
    /* That the sample's path begins like this (whole: that it is this path); depth 0: 1. */
    double probability;
    /* Shorter beginnings that are more probable, from the longest to the shortest, without the empty one. */
    struct agreed_step steps[CANDIDATES_MAX];
    uint32_t step_count;
};

/* paths: at most CANDIDATES_MAX different ones, in any order. 0, -ENOMEM, -EBADMSG (the map is damaged). */
int agreement_new(const struct pathmap *map, const struct candidate_path *paths, uint32_t count,
                  struct agreement **out, struct fathom_error *err);
void agreement_free(struct agreement *agreement);
/* The same paths with the probabilities of one sample, the most probable first. The longest beginning that
 * has a probability of at least `wanted`: half or more, so that there is one such path. wanted 0: the whole
 * path of paths[0]. */
void agreement_find(const struct agreement *agreement, const struct candidate_path *paths, uint32_t count,
                    double wanted, struct agreed *out);

#endif
