/*
 * edge_counts.h - counts how often each edge of the call graph was seen (internal to infer/).
 *
 * A map has millions of nodes and some ten thousand edges, so they are counted in a hash table: only the distinct ones take
 * memory and are sorted.
 */
#ifndef FATHOM_INFER_MODEL_EDGE_COUNTS_H
#define FATHOM_INFER_MODEL_EDGE_COUNTS_H

#include "infer/model/graph.h"

/* An edge out of `function`, seen while that called `next`. */
struct edge_count {
    uint32_t next, function;
    struct graph_edge edge; /* its weight is the sum of those added, its site the heaviest one's */
    double heaviest;
};

struct edge_counts;

struct edge_counts *edge_counts_new(void); /* NULL: out of memory */
void edge_counts_free(struct edge_counts *edge_counts);
/* false: out of memory. */
bool edge_counts_add(struct edge_counts *edge_counts, uint32_t next, uint32_t function,
                     const struct graph_edge *edge);
/* All distinct ones, sorted by function, next, caller, rise, open. None can be added afterwards. */
size_t edge_counts_sorted(struct edge_counts *edge_counts, const struct edge_count **out);

#endif
