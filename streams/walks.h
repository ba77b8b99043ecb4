/*
 * walks.h - under which call paths hot streams are walked: a second reading of their trace.
 */
#ifndef FATHOM_STREAMS_WALKS_H
#define FATHOM_STREAMS_WALKS_H

#include "streams/found.h"

/* Under which paths some streams of the profile were walked: of each stream the first walk after a path was noted counts, if the function of
 * its first instruction is on that, and the path is told down to this. If it never is, the next function of the stream is looked for. */
struct found_walk {
    uint32_t path;
    uint64_t count;
};
struct found_walks { /* of a stream; most first. The caller frees them */
    struct found_walk *list;
    size_t count;
};
int walks_find(struct found *found, enum found_of of, const uint32_t *streams, size_t count,
               struct found_walks *walks, struct fathom_error *err);

#endif
