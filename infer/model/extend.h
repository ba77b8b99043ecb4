/*
 * extend.h - adds paths for CIDs of which training did not see every call: the automaton's most probable ones, entered into the
 * trie without counts.
 *
 * The map made from the trie then has these paths; the list that this returns has their probabilities (resolver_expect()).
 */
#ifndef FATHOM_INFER_MODEL_EXTEND_H
#define FATHOM_INFER_MODEL_EXTEND_H

#include "infer/model/graph.h"
#include "infer/samples/survey.h"
#include "infer/statics/statics.h"
#include "pathmap/map/pathmap.h"

/* One path that a CID can have. */
struct expected_path {
    uint32_t node;    /* of the trie */
    uint32_t setting; /* of the CID */
    double share;     /* among all paths of its CID */
};

struct extend_summary {
    uint64_t found, impossible; /* CIDs: with paths; without any possible path */
    uint64_t too_high;          /* CIDs given up: their height would need too much memory */
    uint64_t open;              /* of those found: with a path through a frame of open size */
    uint64_t cut;               /* samples of CIDs that were cut, without a path from their own stacks */
    size_t states;
};

struct extension { /* malloc'ed: extension_free() */
    struct expected_path *paths;
    size_t count, capacity;
    struct wanted *cut; /* CIDs given up: no work was left, or code that may lead there is not read */
    size_t cut_count, cut_capacity;
    struct extend_summary summary;
};

/* What paths are made from; all borrowed. */
struct extend_input {
    struct trie *trie;
    const struct pathmap *map; /* made from the trie after the functions of wanted and statics were added */
    const struct statics *statics;
    /* By the map's nodes: calls from contexts that this run probably has are entered, too (share 0: weights.h sets it). NULL:
     * the map's counts. */
    const struct graph_weights *weights;
    const struct admission *admission; /* NULL: any path is possible anywhere */
    /* By setting: a setting that allows at least this one's paths. Paths are searched for there first, as every setting that is
     * searched takes time. NULL if `admission` is. */
    const uint32_t *wider;
    /* minimum probability of any part of a path that begins at the CID, for it to be searched for (reach.h) */
    double least;
    /* Limits the work. Each setting gets a share of it, by the number of its samples; within a setting the CIDs with the most
     * samples come first. NULL: no limit. */
    struct work *work;
};

/* Samples of a CID without a path from their own stacks. */
static inline uint64_t extend_need(const struct wanted *wanted)
{
    return wanted->samples > wanted->sure ? wanted->samples - wanted->sure : 0;
}

/* Finds paths by the map's edges and the static ones that each CID's setting allows, and enters them into the trie. wanted is
 * sorted. 0 or -ENOMEM. */
int extend_paths(const struct extend_input *input, struct wanted *wanted, size_t count, struct extension *out,
                 struct fathom_error *err);
void extension_free(struct extension *extension);

#endif
