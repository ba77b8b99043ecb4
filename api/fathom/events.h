/*
 * events.h - lists the events that can be sampled on this machine, and what their records carry.
 */
#ifndef FATHOM_EVENTS_H
#define FATHOM_EVENTS_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FATHOM_EVENTS_PATTERN 250 /* bytes at most */

struct fathom_events_options {
    /* A substring of the name or the description, or a pattern with * ? and []; NULL: all events, and the number of tracepoints. */
    const char *pattern;
    bool json; /* lists all tracepoints too */
    FATHOM_RESERVED;
};

/* Writes the list that 'fathom events' prints. Errors: -ENOENT: no event matches the pattern, for text (the sentence
 * names similar events); -EINVAL: the pattern is too long; those of the stream. */
FATHOM_API int fathom_events_write(const struct fathom_events_options *options, FILE *out,
                                   struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
