/*
 * gathering.h - adds up batches and turns them into the contexts that all views and exporters read
 * (profile/contexts.h). `samples` counts the summed samples of one context, time slice and certainty. Doubts
 * are those of whole paths: a caller shared by many inferred paths is at least as certain as reported.
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
    uint64_t samples, weight;           /* these, and the next three, are set by gathering_contexts() */
    uint64_t by_certainty[CERTAINTIES]; /* of the weight */
    uint64_t left_out;    /* weight of paths that the filter drops; not included in the others */
    double expected;      /* weight expected to be on the right path */
    uint64_t first, last; /* slots */
    const char *unit;     /* NULL: there is no batch */
};

/* slice: seconds; 0: all is one. NULL: out of memory. */
struct gathering *gathering_new(uint64_t slice);
void gathering_free(struct gathering *gathering); /* NULL is allowed */
/* A store_visit; context: the gathering. -EINVAL: the unit differs from that of earlier batches. */
store_visit gathering_add;
void gathering_sums(const struct gathering *gathering, struct gathered *out);
/* Makes the contexts of everything added; call once. dictionary: of this store, shared by its gatherings;
 * store NULL: contexts are numbers of the dictionary. filter: which paths count; NULL: all. The result is
 * borrowed from the gathering. Errors: as store_context(). */
int gathering_contexts(struct gathering *gathering, struct store *store, struct dictionary *dictionary,
                       struct filter *filter, struct contexts *out, struct fathom_error *err);

#endif
