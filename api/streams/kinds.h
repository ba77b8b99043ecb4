/*
 * kinds.h - groups hot streams by kind: those of the same instructions and kinds of objects. Walking a list makes many streams, one for each
 * repeating part, which should be shown once.
 */
#ifndef FATHOM_API_STREAMS_KINDS_H
#define FATHOM_API_STREAMS_KINDS_H

#include "streams/found.h"

struct stream_kind {
    uint32_t first; /* index of its hottest stream in the profile */
    uint32_t streams;
    uint64_t heat;
};

struct stream_kinds {
    struct stream_kind *list; /* hottest first */
    size_t count, capacity;
    uint32_t *of; /* index in the list, by stream */
};

/* 0 or -ENOMEM. The caller clears *out even after an error. */
int stream_kinds_find(const struct found *found, struct stream_kinds *out);
void stream_kinds_clear(struct stream_kinds *kinds);

#endif
