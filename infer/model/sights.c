/* sights.c - an array of distinct edges and an open-addressing index into it; see sights.h. */
#include "infer/model/sights.h"

#include <stdlib.h>

#include "base/hash.h"

#define FIRST_SLOTS 1024u /* a power of two, as all sizes of the index */

struct sights {
    struct sight *all;
    uint32_t count, room; /* room: half of the slots */
    uint32_t *slots;      /* numbers in `all` plus one, 0 empty */
};

struct sights *sights_new(void)
{
    struct sights *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->room = FIRST_SLOTS / 2;
    s->all = malloc(s->room * sizeof *s->all);
    s->slots = calloc(FIRST_SLOTS, sizeof *s->slots);
    if (s->all && s->slots)
        return s;
    sights_free(s);
    return NULL;
}

void sights_free(struct sights *s)
{
    if (!s)
        return;
    free(s->all);
    free(s->slots);
    free(s);
}

static bool same(const struct sight *a, const struct sight *b)
{
    return a->function == b->function && a->next == b->next && a->edge.caller == b->edge.caller &&
           a->edge.rise == b->edge.rise && a->edge.open == b->edge.open;
}

/* Where the sight stands, or the empty slot for it. */
static uint32_t *slot_of(const struct sights *s, const struct sight *sight)
{
    uint64_t key = hash_u64((uint64_t)sight->function << 32 | sight->next);
    key = hash_u64(key ^ ((uint64_t)sight->edge.caller << 32 | sight->edge.rise)) + sight->edge.open;
    uint32_t mask = 2 * s->room - 1;
    for (uint32_t i = (uint32_t)key & mask;; i = (i + 1) & mask) {
        if (!s->slots[i] || same(&s->all[s->slots[i] - 1], sight))
            return &s->slots[i];
    }
}

static bool grow(struct sights *s)
{
    if (s->room > UINT32_MAX / 4)
        return false;
    struct sight *all = realloc(s->all, 2 * (size_t)s->room * sizeof *all);
    if (!all)
        return false;
    s->all = all;
    uint32_t *slots = calloc(4 * (size_t)s->room, sizeof *slots);
    if (!slots)
        return false;
    free(s->slots);
    s->slots = slots;
    s->room *= 2;
    for (uint32_t i = 0; i < s->count; i++)
        *slot_of(s, &s->all[i]) = i + 1;
    return true;
}

bool sights_add(struct sights *s, uint32_t next, uint32_t function, const struct graph_edge *edge)
{
    struct sight sight = {next, function, *edge, edge->weight};
    uint32_t *slot = slot_of(s, &sight);
    if (*slot) {
        struct sight *known = &s->all[*slot - 1];
        known->edge.weight += edge->weight;
        if (edge->weight > known->heaviest) {
            known->heaviest = edge->weight;
            known->edge.site = edge->site;
        }
        return true;
    }
    if (s->count == s->room) {
        if (!grow(s))
            return false;
        slot = slot_of(s, &sight);
    }
    s->all[s->count++] = sight;
    *slot = s->count;
    return true;
}

static int compare_sights(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->next != y->next)
        return x->next < y->next ? -1 : 1;
    if (x->edge.caller != y->edge.caller)
        return x->edge.caller < y->edge.caller ? -1 : 1;
    if (x->edge.rise != y->edge.rise)
        return x->edge.rise < y->edge.rise ? -1 : 1;
    return x->edge.open - y->edge.open;
}

size_t sights_sorted(struct sights *s, const struct sight **out)
{
    qsort(s->all, s->count, sizeof *s->all, compare_sights);
    *out = s->all;
    return s->count;
}
