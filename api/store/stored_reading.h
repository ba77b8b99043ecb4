/* stored_reading.h - a selection of a store, read at one time: a tree of contexts, sums, and a description. */
#ifndef FATHOM_API_STORE_STORED_READING_H
#define FATHOM_API_STORE_STORED_READING_H

#include "api/store/selection.h"
#include "store/gathering.h"

struct stored_reading {
    struct store_query query;
    struct selected selected;
    struct gathering *gathering;
    struct gathered sums;
    struct contexts contexts; /* owned by the gathering, like its samples; names by the dictionary */
    char what[STORED_SIZE];
};

/* Reads the event whose name begins with `event` (as selection_complete()), through the filter (NULL: all), with times in at most `slices`
 * slices (0: without times). The caller clears *out even after a failure. Errors of the store and the selection. */
int stored_reading_fill(struct stored_reading *out, struct store *store,
                        const struct fathom_store_selection *selection, const char *event,
                        struct dictionary *dictionary, struct filter *filter, uint64_t slices,
                        struct fathom_error *err);
void stored_reading_clear(struct stored_reading *reading);

#endif
