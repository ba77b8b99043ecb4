/* selection.h - turns a selection of a store's batches into a query, and finds the event that is meant. */
#ifndef FATHOM_API_STORE_SELECTION_H
#define FATHOM_API_STORE_SELECTION_H

#include "api/fathom/store.h"
#include "store/store.h"

/* Parses a time of struct fathom_store_selection, into seconds since 1970. -EINVAL. */
int selection_time(const char *text, uint64_t now, uint64_t *out, struct fathom_error *err);
/* Checks a name; what: e.g. "service". NULL is valid. -EINVAL: it is empty, or longer than STORE_NAME_MOST. */
int selection_name(const char *what, const char *name, struct fathom_error *err);
/* The query of a selection, without an event; texts are borrowed. */
int selection_query(const struct fathom_store_selection *selection, struct store_query *out,
                    struct fathom_error *err);

/* The service and event of a query, and what the store has of them. */
struct selected {
    char *service, *event;
    char others[256];     /* other events */
    uint64_t first, last; /* slots */
    size_t hosts, builds;
};

/* Completes the query: with the only service, unless it names one, and the event whose name begins with `event`; NULL: the one with the most
 * samples. The query borrows from *out, which the caller clears even after a failure. -ENOENT: nothing was found; -EINVAL: there are several
 * services. */
int selection_complete(struct store *store, const char *event, struct store_query *query,
                       struct selected *out, struct fathom_error *err);
void selected_clear(struct selected *selected);

/* "web on 3 hosts, 2 builds, 2026-11-28 10:00 to 11:00 UTC" */
#define STORED_SIZE 512
void selected_describe(const struct selected *selected, const char *service, char out[STORED_SIZE]);

/* Length in seconds of the slices that the selected time is divided into: at most `most`, and at least half as many if there are enough slots.
 * Slices divide hours evenly, or are whole hours, so that roll-ups can be read. */
uint64_t selected_slice(const struct selected *selected, uint64_t most);

/* "2026-11-28 10:05" (UTC). */
#define TIME_SIZE 32
const char *time_format(char text[TIME_SIZE], uint64_t seconds);

#endif
