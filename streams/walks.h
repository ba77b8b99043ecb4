/*
 * walks.h - the call paths under which hot streams occur, found by reading their trace again.
 */
#ifndef FATHOM_STREAMS_WALKS_H
#define FATHOM_STREAMS_WALKS_H

#include "streams/found.h"

/* The call paths of some streams of the profile. For each stream, the first walk after each path event counts, if
 * its first instruction's function is on the path, which is reported down to that function. If the function is
 * never on a path, the stream's next function is tried. */
struct found_walk {
    uint32_t path;
    uint64_t count;
};
struct found_walks { /* of a stream; most frequent first. The caller frees them */
    struct found_walk *list;
    size_t count;
};
int walks_find(struct found *found, enum found_of of, const uint32_t *streams, size_t count,
               struct found_walks *walks, struct fathom_error *err);

#endif
