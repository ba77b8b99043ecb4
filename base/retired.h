/*
 * retired.h - a queue of what has ended; an entry is only forgotten after RETIRED_KEPT others have ended: a
 * late record or two may still be about it.
 */
#ifndef FATHOM_BASE_RETIRED_H
#define FATHOM_BASE_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#define RETIRED_KEPT 1024u /* this many processes take 2 MB */

struct retired {
    uint64_t keys[RETIRED_KEPT];
    uint64_t count; /* number of ends so far */
};

/* Returns the number of this end, from 1 on, by which the owner can check whether it is the latest one of
 * this key. */
static inline uint64_t retired_add(struct retired *r, uint64_t key)
{
    r->keys[r->count++ % RETIRED_KEPT] = key;
    return r->count;
}

/* Call before each retired_add(): the entry to be replaced. false: none. */
static inline bool retired_due(const struct retired *r, uint64_t *key, uint64_t *number)
{
    if (r->count < RETIRED_KEPT)
        return false;
    *key = r->keys[r->count % RETIRED_KEPT];
    *number = r->count - RETIRED_KEPT + 1;
    return true;
}

#endif
