/*
 * gathering.h - adds up batches, and makes contexts of them that all views and exporters read (profile/contexts.h).
 *
 * Their `samples` are samples that were added up: those of one context, slice of time and certainty. Of doubts there are those of whole
 * paths: a caller that many inferred paths have in common is at least as sure as it is said to be.
 */
#ifndef FATHOM_STORE_GATHERING_H
#define FATHOM_STORE_GATHERING_H

#include "infer/contexts/certainty.h"
#include "profile/contexts.h"
#include "profile/filter.h"
#include "store/store.h"

struct gathering;

struct gathered {
    uint64_t batches;
    uint64_t samples, weight;           /* these, and the next three, are known after gathering_contexts() */
    uint64_t by_certainty[CERTAINTIES]; /* of the weight */
    uint64_t left_out;    /* weight of paths that the filter leaves out, and not among the others */
    double expected;      /* weight that is expected on the right path */
    uint64_t first, last; /* slots */
    const char *unit;     /* NULL: there is no batch */
};

/* slice: seconds; 0: all is one. NULL: out of memory. */
struct gathering *gathering_new(uint64_t slice);
void gathering_free(struct gathering *gathering); /* NULL is allowed */
/* A store_visit; context: the gathering. -EINVAL: it counts in another unit than those before. */
store_visit gathering_add;
void gathering_sums(const struct gathering *gathering, struct gathered *out);
/* All that was added; once. dictionary: of this store, for all its gatherings; store: NULL: contexts are numbers of the dictionary. filter: which paths count; NULL: all. Borrowed from the
 * gathering. Errors: as store_context(). */
int gathering_contexts(struct gathering *gathering, struct store *store, struct dictionary *dictionary,
                       struct filter *filter, struct contexts *out, struct fathom_error *err);

#endif
