/* edge_counts.c - an array of distinct edges and an open-addressing index into it; see edge_counts.h. */
#include "infer/model/edge_counts.h"

#include <stdlib.h>

#include "base/hash.h"

#define FIRST_SLOTS 1024u /* a power of two, as are all sizes of the index */

struct edge_counts {
    struct edge_count *all;
    uint32_t count, capacity; /* capacity: half of the slots */
    uint32_t *slots;          /* index in `all` plus one; 0: empty */
};

struct edge_counts *edge_counts_new(void)
{
    struct edge_counts *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->capacity = FIRST_SLOTS / 2;
    s->all = malloc(s->capacity * sizeof *s->all);
    s->slots = calloc(FIRST_SLOTS, sizeof *s->slots);
    if (s->all && s->slots)
        return s;
    edge_counts_free(s);
    return NULL;
}

void edge_counts_free(struct edge_counts *s)
{
    if (!s)
        return;
    free(s->all);
    free(s->slots);
    free(s);
}

static bool same_edge(const struct edge_count *a, const struct edge_count *b)
{
    return a->function == b->function && a->next == b->next && a->edge.caller == b->edge.caller &&
           a->edge.rise == b->edge.rise && a->edge.open == b->edge.open;
}

/* The slot of the count, or the empty one for it. */
static uint32_t *slot_of(const struct edge_counts *s, const struct edge_count *count)
{
    uint64_t key = hash_u64((uint64_t)count->function << 32 | count->next);
    key = hash_u64(key ^ ((uint64_t)count->edge.caller << 32 | count->edge.rise)) + count->edge.open;
    uint32_t mask = 2 * s->capacity - 1;
    for (uint32_t i = (uint32_t)key & mask;; i = (i + 1) & mask) {
        if (!s->slots[i] || same_edge(&s->all[s->slots[i] - 1], count))
            return &s->slots[i];
    }
}

static bool grow_index(struct edge_counts *s)
{
    if (s->capacity > UINT32_MAX / 4)
        return false;
    struct edge_count *all = realloc(s->all, 2 * (size_t)s->capacity * sizeof *all);
    if (!all)
        return false;
    s->all = all;
    uint32_t *slots = calloc(4 * (size_t)s->capacity, sizeof *slots);
    if (!slots)
        return false;
    free(s->slots);
    s->slots = slots;
    s->capacity *= 2;
    for (uint32_t i = 0; i < s->count; i++)
        *slot_of(s, &s->all[i]) = i + 1;
    return true;
}

bool edge_counts_add(struct edge_counts *s, uint32_t next, uint32_t function, const struct graph_edge *edge)
{
    struct edge_count count = {next, function, *edge, edge->weight};
    uint32_t *slot = slot_of(s, &count);
    if (*slot) {
        struct edge_count *known = &s->all[*slot - 1];
        known->edge.weight += edge->weight;
        if (edge->weight > known->heaviest) {
            known->heaviest = edge->weight;
            known->edge.site = edge->site;
        }
        return true;
    }
    if (s->count == s->capacity) {
        if (!grow_index(s))
            return false;
        slot = slot_of(s, &count);
    }
    s->all[s->count++] = count;
    *slot = s->count;
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct edge_count *x = a, *y = b;
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

size_t edge_counts_sorted(struct edge_counts *s, const struct edge_count **out)
{
    qsort(s->all, s->count, sizeof *s->all, compare_counts);
    *out = s->all;
    return s->count;
}
