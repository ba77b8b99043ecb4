/*
 * compared.h - compares two selections of a store: each host of a side corresponds to a recording in a difference of recordings.
 *
 * A side is a list of words, or "all": "build=1f3a", "host=web1,since=2d,until=1d". The words narrow the selection that both sides share.
 */
#ifndef FATHOM_API_STORE_COMPARED_H
#define FATHOM_API_STORE_COMPARED_H

#include "api/fathom/store.h"
#include "profile/filter.h"
#include "profile/contexts.h"

struct compared;

struct compared_options {
    const struct fathom_store_selection *common;
    const char *sides[2];
    const char *event; /* NULL: the one with the most samples on the first side */
    const struct filter_options *filter;
};

/* Gets the contexts of one host. name: "SIDE on HOST". */
typedef int compared_visit(void *context, unsigned side, const char *name, const char *event,
                           const char *unit, const struct contexts *contexts, struct fathom_error *err);

/* Opens the store. All options, including the texts of `sides`, are borrowed until compared_close(). -EINVAL: a side is not a list of such
 * words; others: as store_open(). */
int compared_open(const struct compared_options *options, struct compared **out, struct fathom_error *err);
void compared_close(struct compared *compared); /* NULL is allowed */
/* Visits each host of each side; at most once. Errors of selection_complete(), store_each(), store_context() and of the visits. */
int compared_each(struct compared *compared, compared_visit *visit, void *context, struct fathom_error *err);
/* After that: whether the sides are the same service, hosts and builds, and share some samples. */
bool compared_overlap(const struct compared *compared);

#endif
