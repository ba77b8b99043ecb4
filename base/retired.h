/*
 * retired.h - what has ended, in the order of its end, to be forgotten when RETIRED_KEPT others have ended after it: a record
 * or two may still be about it.
 */
#ifndef FATHOM_BASE_RETIRED_H
#define FATHOM_BASE_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#define RETIRED_KEPT 1024u /* processes of this number take 2 MB */

struct retired {
    uint64_t keys[RETIRED_KEPT];
    uint64_t count; /* that have ended so far */
};

/* Returns the number of this end, from 1 on, by which its owner knows whether it is still the last one of this key. */
static inline uint64_t retired_add(struct retired *r, uint64_t key)
{
    r->keys[r->count++ % RETIRED_KEPT] = key;
    return r->count;
}

/* Call before each retired_add(). What it replaces: false: nothing. */
static inline bool retired_due(const struct retired *r, uint64_t *key, uint64_t *number)
{
    if (r->count < RETIRED_KEPT)
        return false;
    *key = r->keys[r->count % RETIRED_KEPT];
    *number = r->count - RETIRED_KEPT + 1;
    return true;
}

#endif
