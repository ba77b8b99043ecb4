/*
 * extend.h - paths for CIDs that training never saw: the automaton's most probable ones, entered into the
 * trie.
 *
 * The map that comes of it answers for these CIDs like for any other; which of its answers are only inferred
 * is told by the list that went in.
 */
#ifndef FATHOM_INFER_EXTEND_H
#define FATHOM_INFER_EXTEND_H

#include "infer/statics.h"
#include "pathmap/pathmap.h"

/* A CID of the recording that the map does not know. */
struct unseen {
    uint32_t function, height; /* of the trie */
    uint64_t samples;
    bool found; /* out: paths were entered */
};

struct extend_summary {
    uint64_t found, impossible; /* CIDs: with paths; that no path leads to */
    uint64_t too_many;          /* CIDs given up on for the number of states */
    uint64_t reduced;           /* of those found: looked up with less than all that is known, for the same */
    uint64_t open;              /* of those found: a path goes through a frame of open size */
    size_t states;
};

/* Finds paths by the map's edges and the static ones, and enters them into the trie, weighted by samples and
 * probability. map is the trie's (trie_serialise) after the functions of unseen and statics were added. 0 or
 * -ENOMEM. */
int extend_paths(struct trie *trie, const struct pathmap *map, const struct statics *statics,
                 struct unseen *unseen, size_t count, struct extend_summary *summary,
                 struct fathom_error *err);

#endif
