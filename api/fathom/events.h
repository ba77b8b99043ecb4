/*
 * events.h - what can be sampled on this machine, and what a record of it carries.
 */
#ifndef FATHOM_EVENTS_H
#define FATHOM_EVENTS_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FATHOM_EVENTS_PATTERN 250 /* bytes at most */

struct fathom_events_options {
    /* A part of the name or the description, or with * ? and []; NULL: all events, and how many tracepoints there are. */
    const char *pattern;
    bool json; /* with all tracepoints */
    FATHOM_RESERVED;
};

/* Writes the list that 'fathom events' prints. Errors: -ENOENT: no event has the pattern, as text (the sentence says which
 * names are near); -EINVAL: a longer pattern; those of the stream. */
FATHOM_API int fathom_events_write(const struct fathom_events_options *options, FILE *out,
                                   struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
