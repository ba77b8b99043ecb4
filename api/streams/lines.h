/* lines.h - how many cache lines hot streams take, and would take if their objects stood side by side. */
#ifndef FATHOM_API_STREAMS_LINES_H
#define FATHOM_API_STREAMS_LINES_H

#include "api/streams/kinds.h"
#include "report/streams/streams.h"

/* The cache lines of a kind's streams, or of one stream (kinds: NULL), and how many objects they have. -ENOMEM. */
int stream_lines(const struct found *found, const struct stream_kinds *kinds, uint32_t which,
                 struct shown_lines *lines, size_t *objects);

#endif
