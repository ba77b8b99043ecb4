/* stored_reading.h - what a store has of a selection, read at one time: a tree of contexts, sums, and what it is of. */
#ifndef FATHOM_API_STORE_STORED_READING_H
#define FATHOM_API_STORE_STORED_READING_H

#include "api/store/selection.h"
#include "store/gathering.h"

struct stored_reading {
    struct store_query query;
    struct selected selected;
    struct gathering *gathering;
    struct gathered sums;
    struct contexts contexts; /* the gathering's, as are the samples in it; names are the dictionary's */
    char what[STORED_SIZE];
};

/* Reads it: of the event whose name begins with `event` (as selection_complete()), what passes the filter (NULL: all), and times in at
 * most so many slices (0: none). *out is cleared also after a failure. Errors are those of the store and of the selection. */
int stored_reading_fill(struct stored_reading *out, struct store *store,
                        const struct fathom_store_selection *selection, const char *event,
                        struct dictionary *dictionary, struct filter *filter, uint64_t slices,
                        struct fathom_error *err);
void stored_reading_clear(struct stored_reading *reading);

#endif
