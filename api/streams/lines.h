/* lines.h - how many cache lines hot streams use, and would use if their objects were contiguous. */
#ifndef FATHOM_API_STREAMS_LINES_H
#define FATHOM_API_STREAMS_LINES_H

#include "api/streams/kinds.h"
#include "report/streams/streams.h"

/* The cache lines and the number of objects of a kind's streams, or of one stream (kinds: NULL). 0 or -ENOMEM. */
int stream_lines(const struct found *found, const struct stream_kinds *kinds, uint32_t which,
                 struct shown_lines *lines, size_t *objects);

#endif
