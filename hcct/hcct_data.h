/*
 * hcct_data.h - what an HCCT is made of.
 *
 * Invariants: exactly the nodes of `counters` are NODE_MONITORED; every leaf but the root is; a node without
 * a counter has self 0 and stands for a path of weight `unseen` at most, which no counter is below; the
 * counters sum up to `total` at most (so that the least of them is at most total / limit).
 */
#ifndef FATHOM_HCCT_HCCT_DATA_H
#define FATHOM_HCCT_HCCT_DATA_H

#include "hcct/children.h"
#include "hcct/hcct.h"

#define HCCT_MOST_COUNTERS ((size_t)1 << 40)

struct counter {
    uint64_t bound; /* at most node->self; a heap by this while `ordered` */
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

/* The node's counter is no more. */
static inline void hcct_forget(struct cct_node *node)
{
    node->links &= ~NODE_MONITORED;
    node->self = node->error = 0;
}

#endif
