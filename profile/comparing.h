/*
 * comparing.h - the arithmetic of difference.h: rows of samples that are sorted by path, one after the other. Private to profile/.
 */
#ifndef FATHOM_PROFILE_COMPARING_H
#define FATHOM_PROFILE_COMPARING_H

#include "profile/difference.h"

struct compared_sample {
    uint64_t time; /* ns since the recording's first sample */
    double weight;
    double doubt;   /* weight that is expected not to be on its path */
    uint32_t place; /* the number of its node */
};

struct compared_run {
    struct compared_sample *samples; /* sorted by place */
    size_t *starts;                  /* of each node, the first of its samples; with the end */
    size_t sample_count;
    size_t
        times; /* how often one sample has another time than the one before: of sums of slots, how many slots there are */
    double weight, squares; /* sums over all samples */
    uint64_t nanoseconds;
    unsigned side;
    bool exact; /* counted, not sampled; no times */
};

/* In preorder: below node i are those up to `end`. */
struct compared_node {
    uint32_t item, parent, end;
};

struct comparing {
    const struct compared_run *runs;
    size_t run_count;
    const struct compared_node *nodes;
    size_t node_count, items; /* items: more than any node's */
    bool absolute;
    double least;                           /* share of the weight below which a row is not compared */
    struct change *paths, *selves, *totals; /* zero; by node, by item, by item */
    /* Results */
    struct change whole; /* the weights of both sides, judged for itself */
    double level;
    size_t compared, called, unclear;
};

/* 0 or -ENOMEM. */
int comparing_run(struct comparing *comparing);

#endif
