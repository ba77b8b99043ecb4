/*
 * sights.h - counts how often each edge of the call graph was seen (internal to infer/).
 *
 * A map has millions of nodes and some ten thousand edges, so they are counted in a hash table: memory and
 * sorting are those of the distinct ones.
 */
#ifndef FATHOM_INFER_MODEL_SIGHTS_H
#define FATHOM_INFER_MODEL_SIGHTS_H

#include "infer/model/graph.h"

/* An edge that leads out of `function` while it called `next`. */
struct sight {
    uint32_t next, function;
    struct graph_edge edge; /* its weight is the sum of those added, its site that of the heaviest */
    double heaviest;
};

struct sights;

struct sights *sights_new(void); /* NULL: out of memory */
void sights_free(struct sights *sights);
/* false: out of memory. */
bool sights_add(struct sights *sights, uint32_t next, uint32_t function, const struct graph_edge *edge);
/* All distinct ones, by function, next, caller, rise, open. None can be added after that. */
size_t sights_sorted(struct sights *sights, const struct sight **out);

#endif
