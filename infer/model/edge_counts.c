/* edge_counts.c - see edge_counts.h. */
#include "infer/model/edge_counts.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

struct edge_counts {
    struct edge_count *all;
    uint32_t count, capacity;
    struct table *index; /* hash of an edge -> index in `all` */
};

struct edge_counts *edge_counts_new(void)
{
    struct edge_counts *s = calloc(1, sizeof *s);
    if (s && !(s->index = table_new())) {
        free(s);
        s = NULL;
    }
    return s;
}

void edge_counts_free(struct edge_counts *s)
{
    if (!s)
        return;
    table_free(s->index);
    free(s->all);
    free(s);
}

bool edge_counts_add(struct edge_counts *s, uint32_t next, uint32_t function, const struct graph_edge *edge)
{
    bool added;
    const uint64_t key =
        hash_u64((uint64_t)function << 32 | next) ^ ((uint64_t)edge->caller << 32 | edge->rise);
    uint64_t *place = table_put(s->index, hash_u64(key) + edge->open, &added);
    if (!place)
        return false;
    if (added) {
        *place = s->count;
        return vec_push(s->all, s->count, s->capacity,
                        (struct edge_count){next, function, *edge, edge->weight});
    }
    struct edge_count *known = &s->all[*place];
    known->edge.weight += edge->weight;
    if (edge->weight > known->heaviest) {
        known->heaviest = edge->weight;
        known->edge.site = edge->site;
    }
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct edge_count *x = a, *y = b;
    return order_of(x->function, y->function) ?: order_of(x->next, y->next) ?: graph_compare_edges(&x->edge, &y->edge);
}

size_t edge_counts_sorted(struct edge_counts *s, const struct edge_count **out)
{
    if (s->count)
        qsort(s->all, s->count, sizeof *s->all, compare_counts);
    *out = s->all;
    return s->count;
}
