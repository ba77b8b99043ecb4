/* unsampled.c - see unsampled.h. */
#include "perfdata/unsampled.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

enum { SAMPLED, WAITING };

struct unsampled {
    struct table *threads; /* TID -> SAMPLED or WAITING, for the last thread with this TID */
    uint64_t started, waiting;
    uint32_t last; /* TID of the last sample */
};

struct unsampled *unsampled_new(void)
{
    struct unsampled *u = calloc(1, sizeof *u);
    if (u && !(u->threads = table_new())) {
        free(u);
        u = NULL;
    }
    return u;
}

void unsampled_free(struct unsampled *u)
{
    if (!u)
        return;
    table_free(u->threads);
    free(u);
}

int unsampled_apply(struct unsampled *u, const struct record *record)
{
    /* A FORK without a time describes a thread that existed before. */
    if (record->kind == RECORD_FORK && record->time) {
        uint64_t *state = table_put(u->threads, record->tid, NULL);
        if (!state)
            return -ENOMEM;
        *state = WAITING;
        u->started++;
        u->waiting++;
        if (u->last == record->tid)
            u->last = 0;
    } else if (record->kind == RECORD_SAMPLE && record->tid != u->last) {
        uint64_t *state = table_find(u->threads, record->tid);
        if (state && *state == WAITING) {
            *state = SAMPLED;
            u->waiting--;
        }
        u->last = record->tid;
    }
    return 0;
}

uint64_t unsampled_count(const struct unsampled *u, uint64_t *started)
{
    *started = u->started;
    return u->waiting;
}
