/*
 * profile_data.h - private to the files that add samples to a profile: the profile, and a sample being added to it.
 */
#ifndef FATHOM_PROFILE_PROFILE_DATA_H
#define FATHOM_PROFILE_PROFILE_DATA_H

#include "base/hash.h"
#include "profile/common.h"
#include "profile/process_shares.h"
#include "profile/profile.h"
#include "profile/shares.h"
#include "profile/waker_paths.h"

struct profile {
    struct profile_options options;
    struct framing *framing;
    struct cct *exact; /* either this one or `bounded` */
    struct hcct *bounded;
    struct cct *hot; /* its contexts; NULL until they are asked for */
    bool prepared;   /* for the map */
    /* by map node, for plain paths: where its path ends. 0: unknown; the cct_node of the exact tree; in bounded memory the
     * number of a spot, from 1 */
    uint64_t *places;
    struct table *others; /* the same for parts of paths, by a hash of their contents */
    struct hcct_place *spots;
    size_t spot_count, spot_capacity;
    struct table *sets; /* sets of candidates that samples had (likely.h) */
    /* exact tree, except for AMBIGUOUS_SPLIT: how certain its contexts are */
    struct doubts *doubts;
    double *owed
        [METRICS_MAX];    /* AMBIGUOUS_SPLIT: by map node, of shares_divide(); NULL before the first sample */
    struct common common; /* AMBIGUOUS_COMMON: scratch */
    struct profile_counts counts;
    struct process_shares *processes;
    struct waker_paths *wakers;    /* NULL: not asked for */
    bool counted;                  /* the last sample counts */
    struct placed_sample *samples; /* NULL: not stored */
    uint64_t *sample_values;
    size_t sample_count, sample_capacity, value_capacity;
};

/* What became of a sample. */
struct outcome {
    bool counted;    /* any of its paths counts */
    uint64_t weight; /* of those that count */
};

/* A sample being added to the tree. */
struct adding {
    const struct pathmap *map;
    const struct process *process;
    const struct sample *sample;
    const struct resolved *resolved;
    uint64_t values[METRICS_MAX]; /* of the profile's metrics */
    double probability;           /* of the path being added */
    struct outcome *outcome;
};

#endif
