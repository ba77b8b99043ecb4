/*
 * extend.h - paths for CIDs of which training did not see every call: the automaton's most probable ones,
 * entered into the trie without counts.
 *
 * The map that comes of it knows these paths; how probable they are is told by the list that comes out
 * (resolver_expect()).
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
    uint64_t found, impossible; /* CIDs: with paths; that no path leads to */
    uint64_t too_high;          /* CIDs given up on: the automaton has not the memory for their height */
    uint64_t open;              /* of those found: a path goes through a frame of open size */
    uint64_t cut; /* samples whose paths are not known from their own stacks, of CIDs that were cut */
    size_t states;
};

struct extension { /* malloc'ed: extension_free() */
    struct expected_path *paths;
    size_t count, capacity;
    struct wanted *
        cut; /* CIDs that were given up on: there was no work left, or code that may lead there is not read */
    size_t cut_count, cut_capacity;
    struct extend_summary summary;
};

/* What paths are made of; all borrowed. */
struct extend_input {
    struct trie *trie;
    const struct pathmap *map; /* the trie's after the functions of wanted and statics were added */
    const struct statics *statics;
    /* By the map's nodes: calls from contexts that this run is likely to have are entered, too (share 0: weights.h tells
     * it). NULL: the map's counts. */
    const struct graph_weights *weights;
    const struct admission *admission; /* NULL: any path can be anywhere */
    /* By setting: one in which at least the paths of this one can be; paths are looked for there first, as
     * each setting that they are looked for in takes time. NULL as admission. */
    const uint32_t *wider;
    double
        least; /* paths are not looked for of which a part, from the CID on, is less probable than this (near.h) */
    /* What may be done. Each setting has a part of it, by the samples whose paths are looked for there; in it the CIDs with the
     * most samples come first. NULL: no limit. */
    struct work *work;
};

/* Samples of a CID whose paths are not known from their own stacks. */
static inline uint64_t extend_need(const struct wanted *wanted)
{
    return wanted->samples > wanted->sure ? wanted->samples - wanted->sure : 0;
}

/* Finds paths by the map's edges and the static ones that can be in each CID's setting, and enters them into
 * the trie. wanted is sorted. 0 or -ENOMEM. */
int extend_paths(const struct extend_input *input, struct wanted *wanted, size_t count, struct extension *out,
                 struct fathom_error *err);
void extension_free(struct extension *extension);

#endif
