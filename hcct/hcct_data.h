/*
 * hcct_data.h - the internals of an HCCT.
 *
 * Invariants: exactly the nodes of `counters` are NODE_MONITORED; every leaf but the root is one; a node
 * without a counter has self 0, and its path weighs at most `unseen`, the lower bound of all counters; the
 * counters add up to at most `total` (so that the least of them is at most total / limit).
 */
#ifndef FATHOM_HCCT_HCCT_DATA_H
#define FATHOM_HCCT_HCCT_DATA_H

#include "hcct/children.h"
#include "hcct/hcct.h"

#define HCCT_MOST_COUNTERS ((size_t)1 << 40)

struct counter {
    uint64_t bound; /* at most node->self; the heap's key while `ordered` */
    struct cct_node *node;
};

struct hcct {
    struct tree tree;
    struct counter *counters;
    size_t count, room, limit;
    bool ordered; /* only when all counters are in use */
    double eps;
    uint64_t total, unseen;
};

void hcct_prune(struct hcct *hcct, struct cct_node *node);

/* Marks the node as having no counter. */
static inline void hcct_forget(struct cct_node *node)
{
    node->links &= ~NODE_MONITORED;
    node->self = node->error = 0;
}

#endif
