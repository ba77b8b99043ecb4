/*
 * contexts.h - a profile as views and exporters read it: each context with a value of every metric, and how
 * sure it is.
 */
#ifndef FATHOM_PROFILE_CONTEXTS_H
#define FATHOM_PROFILE_CONTEXTS_H

#include "hcct/cct.h"
#include "profile/doubts.h"
#include "profile/frames.h"
#include "profile/metric.h"

/* A sample and where its path ends. */
struct placed_sample {
    uint64_t time; /* ns */
    const struct cct_node *node;
    const char *comm; /* the thread's name */
    uint32_t pid, tid;
    float probability;         /* that this is its path */
    uint8_t certainty;         /* enum certainty */
    uint8_t wait;              /* enum wait_reason; 0: it is no wait */
    const struct image *image; /* that the sampled instruction is in; NULL: none that is known */
    uint64_t address;          /* of it there */
};

/* All borrowed. */
struct contexts {
    struct cct *tree;
    const struct frames *frames;   /* what its items are */
    const struct metrics *metrics; /* what the values of its nodes are */
    /* How sure they are, of metrics->at[0]. NULL: not known, in bounded memory (where a node's `error` tells
     * how exact its weight is), and with AMBIGUOUS_SPLIT and AMBIGUOUS_COMMON, where weights and frames say
     * it. */
    const struct doubts *doubts;
    const struct placed_sample *samples; /* in the order of time; NULL: they were not kept. With
                                            AMBIGUOUS_SPLIT, each part of a sample */
    const uint64_t *sample_values;       /* of each: those of all metrics */
    const uint64_t
        *sample_counts; /* of each: how many samples of one weight it is the sum of; NULL: it is one */
    size_t sample_count;
};

#endif
