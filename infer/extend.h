/*
 * extend.h - paths for CIDs of which training did not see every call: the automaton's most probable ones,
 * entered into the trie without counts.
 *
 * The map that comes of it knows these paths; how probable they are is told by the list that comes out
 * (resolver_expect()).
 */
#ifndef FATHOM_INFER_EXTEND_H
#define FATHOM_INFER_EXTEND_H

#include "infer/graph.h"
#include "infer/statics.h"
#include "pathmap/pathmap.h"

/* A CID of the recording. */
struct wanted {
    uint32_t function, height; /* of the trie */
    uint64_t samples;
};

/* One path that a CID can have. */
struct expected_path {
    uint32_t node; /* of the trie */
    double share;  /* among all paths of its CID */
};

struct extend_summary {
    uint64_t found, impossible; /* CIDs: with paths; that no path leads to */
    uint64_t too_high;          /* CIDs given up on: the automaton has not the memory for their height */
    uint64_t open;              /* of those found: a path goes through a frame of open size */
    size_t states;
};

struct extension { /* malloc'ed: the caller frees paths */
    struct expected_path *paths;
    size_t count, room;
    struct extend_summary summary;
};

/* Finds paths by the map's edges and the static ones, and enters them into the trie. map is the trie's
 * (trie_serialise) after the functions of wanted and statics were added. weights (by the map's nodes) are
 * those of an open world, where all CIDs are asked for, and calls from contexts that it is likely to have are
 * entered, too (share 0: weights.h tells it); NULL: it is closed, and CIDs of which training saw
 * every call are left out. wanted is sorted: the CIDs with the most samples come first. 0 or -ENOMEM. */
int extend_paths(struct trie *trie, const struct pathmap *map, const struct graph_weights *weights,
                 const struct statics *statics, struct wanted *wanted, size_t count, struct extension *out,
                 struct fathom_error *err);

/* Whether a CID (of the map) may have paths that the map does not know: not when it is known and training saw
 * every call into its image. */
bool extend_is_open(const struct pathmap *map, uint32_t function, uint32_t height);

#endif
