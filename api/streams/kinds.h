/*
 * kinds.h - hot streams by kind: streams by the same instructions, over objects of the same kinds. Of a list that is walked there are
 * many, one for each part that repeats; a person wants to see it once.
 */
#ifndef FATHOM_API_STREAMS_KINDS_H
#define FATHOM_API_STREAMS_KINDS_H

#include "streams/found.h"

struct stream_kind {
    uint32_t first; /* its hottest stream, by index in the profile */
    uint32_t streams;
    uint64_t heat;
};

struct stream_kinds {
    struct stream_kind *list; /* hottest first */
    size_t count, capacity;
    uint32_t *of; /* by stream: index in the list */
};

/* The caller clears it, also after an error: -ENOMEM. */
int stream_kinds_find(const struct found *found, struct stream_kinds *out);
void stream_kinds_clear(struct stream_kinds *kinds);

#endif
