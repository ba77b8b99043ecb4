/*
 * summing.h - adds up entries of batches by context and certainty. Sums are exact and independent of order: a
 * sum of sums equals the sum of the entries.
 */
#ifndef FATHOM_STORE_SUMMING_H
#define FATHOM_STORE_SUMMING_H

#include "infer/contexts/certainty.h"
#include "store/batch.h"

struct summing;

struct summing *summing_new(void);          /* NULL: out of memory */
void summing_free(struct summing *summing); /* NULL is allowed */
/* -ENOMEM. */
int summing_add(struct summing *summing, const struct store_entry *entries, size_t count);
/* The sums, ordered by context, then certainty; owned by the summing, until the next summing_add(), which
 * starts over. NULL: out of memory. */
struct store_entry *summing_take(struct summing *summing, size_t *count);

/* For a weight of which `right` 255ths are right: sets how sure it is, and the rest. certainty: that of each
 * added entry. */
void summing_rate(struct store_entry *entry, enum certainty certainty, unsigned __int128 right);

static inline enum certainty certainty_in(uint8_t sure)
{
    return sure == STORE_PROVED    ? CERTAINTY_PROVED
           : sure == STORE_UNKNOWN ? CERTAINTY_UNKNOWN
                                   : CERTAINTY_INFERRED;
}

/* In 255ths. */
static inline unsigned __int128 right_of(const struct store_entry *e)
{
    return (unsigned __int128)e->weight * e->sure + e->rest;
}

#endif
