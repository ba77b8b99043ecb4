/*
 * lineage.h - a map node's ancestors as the smoother needs them: what two paths share.
 */
#ifndef FATHOM_INFER_LINEAGE_H
#define FATHOM_INFER_LINEAGE_H

#include "pathmap/pathmap.h"

struct lineage;

/* A node's path from the root inwards. */
struct ancestry {
    uint32_t depth;
    const uint32_t *paths; /* depth of them: the function path's number of each ancestor, the node last. Equal
                              numbers at a depth mean equal functions from the root to there */
};

/* map is borrowed. NULL: out of memory. */
struct lineage *lineage_new(const struct pathmap *map);
void lineage_free(struct lineage *lineage);
/* A node's ancestry, computed once; lives as long as the lineage. NULL: out of memory. A damaged node has
 * depth 0. */
const struct ancestry *lineage_of(struct lineage *lineage, uint32_t node);

/* Functions from the root that both paths share: O(log depth). */
static inline uint32_t ancestry_common(const struct ancestry *a, const struct ancestry *b)
{
    uint32_t low = 0, high = a->depth < b->depth ? a->depth : b->depth;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (a->paths[middle - 1] == b->paths[middle - 1])
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#endif
