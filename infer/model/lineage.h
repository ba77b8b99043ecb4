/*
 * lineage.h - the contexts around map nodes: what two paths share.
 *
 * A context is a function path, whatever the heights and call sites of its nodes. Those around nodes that were asked for are
 * numbered from 1, outer ones before inner ones; LINEAGE_ROOT is around all.
 */
#ifndef FATHOM_INFER_MODEL_LINEAGE_H
#define FATHOM_INFER_MODEL_LINEAGE_H

#include "base/search.h"
#include "pathmap/map/pathmap.h"

#define LINEAGE_ROOT 0u

struct lineage;

/* A node's path from the root inwards. */
struct ancestry {
    uint32_t depth;
    /* `depth` of them, the node's own last. Equal numbers at a depth mean equal functions from the root to there */
    const uint32_t *contexts;
};

/* map is borrowed. NULL: out of memory. */
struct lineage *lineage_new(const struct pathmap *map);
void lineage_free(struct lineage *lineage);
const struct pathmap *lineage_map(const struct lineage *lineage);
/* A node's ancestry, computed once; lives as long as the lineage. NULL: out of memory. A damaged node has
 * depth 0. */
const struct ancestry *lineage_of(struct lineage *lineage, uint32_t node);
/* Number of numbered contexts, including LINEAGE_ROOT. */
uint32_t lineage_count(const struct lineage *lineage);
/* The context around this one, which is not LINEAGE_ROOT. */
uint32_t lineage_outer(const struct lineage *lineage, uint32_t context);
/* One of the context's nodes. */
uint32_t lineage_node(const struct lineage *lineage, uint32_t context);

/* The number of functions from the root that both paths share: O(log depth). */
static inline uint32_t ancestry_common(const struct ancestry *a, const struct ancestry *b)
{
    uint32_t most = a->depth < b->depth ? a->depth : b->depth;
    return lower_bound(i, 0, most, a->contexts[i] == b->contexts[i]);
}

#endif
