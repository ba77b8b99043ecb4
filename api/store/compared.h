/*
 * compared.h - two selections of a store that are compared: each host of a side is what a recording is in a difference of recordings.
 *
 * A side is words with commas between, or "all": "build=1f3a", "host=web1,since=2d,until=1d". They narrow what both sides have in common.
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
    const char *event; /* NULL: that with the most samples, of the first side */
    const struct filter_options *filter;
};

/* What of one host counts. name: "SIDE on HOST". */
typedef int compared_visit(void *context, unsigned side, const char *name, const char *event,
                           const char *unit, const struct contexts *contexts, struct fathom_error *err);

/* Opens the store. All options are borrowed until compared_close(), the texts of `sides`, too. -EINVAL: a side is no list of such
 * words; others: as store_open(). */
int compared_open(const struct compared_options *options, struct compared **out, struct fathom_error *err);
void compared_close(struct compared *compared); /* NULL is allowed */
/* Visits each host of each side; once. Errors: as selection_complete(), store_each(), store_context(), and what a visit returns. */
int compared_each(struct compared *compared, compared_visit *visit, void *context, struct fathom_error *err);
/* After that: whether the sides are two times of the same service, hosts and builds, and some samples are of both. */
bool compared_overlap(const struct compared *compared);

#endif
