/*
 * comparing.h - the arithmetic of difference.h: rows of samples that are sorted by path, one after the other. Private to profile/.
 */
#ifndef FATHOM_PROFILE_COMPARING_H
#define FATHOM_PROFILE_COMPARING_H

#include "profile/difference.h"

struct compared_sample {
    uint64_t time; /* ns since the recording's first sample */
    double weight;
    double doubt;   /* weight expected not to be on its path */
    uint32_t place; /* number of its node */
};

struct compared_run {
    struct compared_sample *samples; /* sorted by place */
    size_t *starts;                  /* by node: index of its first sample; and the end */
    size_t sample_count;
    /* how many samples have another time than the one before; for sums of slots, the number of slots */
    size_t times;
    double weight, squares; /* sums over all samples */
    uint64_t nanoseconds;
    unsigned side;
    bool exact; /* counted, not sampled; no times */
};

/* In preorder: the nodes below node i are those before `end`. */
struct compared_node {
    uint32_t item, parent, end;
};

struct comparing {
    const struct compared_run *runs;
    size_t run_count;
    const struct compared_node *nodes;
    size_t node_count, items; /* items: greater than any node's */
    bool absolute;
    double least;                           /* share of the weight below which rows are not compared */
    struct change *paths, *selves, *totals; /* zeroed; by node, by item, by item */
    /* Results */
    struct change whole; /* the weights of both sides, judged separately */
    double level;
    size_t compared, called, unclear;
};

/* 0 or -ENOMEM. */
int comparing_run(struct comparing *comparing);

#endif
