/*
 * ordered.h - a map from 64-bit keys to 64-bit values that finds the largest key up to a given one: a balanced tree, in which each
 * operation takes O(log n) steps whatever the keys are. Not thread-safe.
 */
#ifndef FATHOM_BASE_ORDERED_H
#define FATHOM_BASE_ORDERED_H

#include <stdbool.h>
#include <stdint.h>

struct ordered;

struct ordered *ordered_new(void);      /* NULL: out of memory */
void ordered_free(struct ordered *map); /* NULL is allowed */
/* Adds the key, or gives it another value. false: out of memory; nothing has changed then. */
bool ordered_put(struct ordered *map, uint64_t key, uint64_t value);
bool ordered_remove(struct ordered *map, uint64_t key); /* whether it was there */
/* The largest key that is at most `bound`; false: there is none. */
bool ordered_at_most(const struct ordered *map, uint64_t bound, uint64_t *key, uint64_t *value);

#endif
