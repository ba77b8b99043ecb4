/*
 * hcct_data.h - the internals of an HCCT.
 *
 * Invariants: exactly the nodes of `counters` are NODE_MONITORED; every leaf but the root is; a node without
 * a counter has no values and stands for a path of weight `unseen` at most, which no counter is below; the
 * counters sum up to total[0] at most (so that the least of them is at most total[0] / limit).
 */
#ifndef FATHOM_HCCT_HCCT_DATA_H
#define FATHOM_HCCT_HCCT_DATA_H

#include <string.h>

#include "hcct/children.h"
#include "hcct/hcct.h"

#define HCCT_MOST_COUNTERS ((size_t)1 << 40)

struct counter {
    uint64_t bound; /* at most node->self[0]; a heap by this while `ordered` */
    struct cct_node *node;
};

struct hcct {
    struct tree tree;
    struct counter *counters;
    size_t count, room, limit;
    bool ordered; /* only when all counters are in use */
    double eps;
    uint64_t unseen;
    uint64_t total[]; /* of each metric */
};

void hcct_prune(struct hcct *hcct, struct cct_node *node);

/* The node's counter is no more. */
static inline void hcct_forget(const struct hcct *hcct, struct cct_node *node)
{
    node->links &= ~NODE_MONITORED;
    node->error = 0;
    memset(node->self, 0, hcct->tree.metrics * sizeof *node->self);
}

#endif
