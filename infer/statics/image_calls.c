/* image_calls.c - see image_calls.h. */
#include "infer/statics/image_calls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/arena.h"
#include "base/hash.h"

/* An image's calls. */
struct entry {
    struct calls *calls; /* NULL: not read yet */
    uint32_t round;      /* the last round in which it was asked for */
    bool refused;        /* in that round: reading it would have cost too much */
};

struct image_calls {
    struct arena *arena;
    struct table *of; /* image -> struct entry */
    struct work work;
    uint32_t round;
};

struct image_calls *image_calls_new(void)
{
    struct image_calls *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->arena = arena_new(0);
    c->of = table_new();
    c->work.left = IMAGE_CALLS_MOST;
    return whole_or_free(c, c->arena && c->of, image_calls_free);
}

void image_calls_free(struct image_calls *c)
{
    if (!c)
        return;
    uint64_t image, entry;
    for (size_t at = 0; c->of && table_next(c->of, &at, &image, &entry);)
        calls_free(((struct entry *)(uintptr_t)entry)->calls);
    table_free(c->of);
    arena_free(c->arena);
    free(c);
}

uint64_t image_calls_allow(struct image_calls *c, uint64_t steps)
{
    uint64_t left = c->work.left;
    c->work.left = steps;
    return left;
}

void image_calls_next_round(struct image_calls *c)
{
    c->round++;
}

/* NULL: out of memory. */
static struct entry *entry_of(struct image_calls *c, const struct image *image)
{
    uint64_t *place = table_put(c->of, (uintptr_t)image, NULL);
    struct entry *entry = place ? (struct entry *)(uintptr_t)*place : NULL;
    if (!place || entry)
        return entry;
    entry = arena_alloc(c->arena, sizeof *entry);
    if (entry)
        *entry = (struct entry){.round = UINT32_MAX};
    *place = (uintptr_t)entry;
    return entry;
}

int image_calls_of(struct image_calls *c, const struct image *image, const struct calls **out)
{
    uint64_t steps = IMAGE_CALLS_STEPS * image_code_size(image);
    struct entry *entry = entry_of(c, image);
    if (!entry)
        return -ENOMEM;
    if (entry->round != 0 && entry->round != c->round) {
        entry->round = c->round;
        entry->refused = steps > c->work.left;
        /* also if an earlier round paid for it: each round has to get what it would get alone */
        if (!entry->refused)
            work_take(&c->work, steps);
    }
    if (!entry->refused && !entry->calls && calls_build(image, &entry->calls, NULL) < 0)
        return -ENOMEM;
    *out = entry->refused ? NULL : entry->calls;
    return 0;
}
