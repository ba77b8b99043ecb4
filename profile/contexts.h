/* contexts.h - a profile as views and exporters read it: each context with a value of every metric, and how certain it is. */
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
    float probability;         /* of this being its path */
    uint8_t certainty;         /* enum certainty */
    uint8_t wait;              /* enum wait_reason; 0: it is not a wait */
    const struct image *image; /* of the sampled instruction; NULL: unknown */
    uint64_t address;          /* of the instruction in the image */
};

/* All borrowed. */
struct contexts {
    struct cct *tree;
    const struct frames *frames;   /* what the tree's items refer to */
    const struct metrics *metrics; /* of the nodes' values */
    /* How certain they are, for metrics->at[0]. NULL: unknown: in bounded memory (where a node's `error` bounds that of its
     * weight), and with AMBIGUOUS_SPLIT and AMBIGUOUS_COMMON, where weights and frames express it. */
    const struct doubts *doubts;
    /* in the order of time; NULL: they were not stored. With AMBIGUOUS_SPLIT, each part of a sample */
    const struct placed_sample *samples;
    const uint64_t *sample_values; /* by sample: values of all metrics */
    const uint64_t *sample_counts; /* by sample: how many samples of equal weight it sums up; NULL: one */
    size_t sample_count;
};

#endif
