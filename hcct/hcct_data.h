/*
 * hcct_data.h - the internals of a counter.
 *
 * The estimate of a monitored path is self[0], its error cct_error(). There are two ways to tell which are monitored:
 *   - LSS, BSS and Sticky Sampling mark them (NODE_MONITORED); a node without the mark has no values;
 *   - with the others a new node begins at `unseen`, which is what a path that is not monitored may weigh; those above
 *     it are monitored, so that counting needs no test. When `unseen` grows (hcct_purge.c), so do the others.
 * Every leaf but the root and those where the stream is, is monitored.
 */
#ifndef FATHOM_HCCT_HCCT_DATA_H
#define FATHOM_HCCT_HCCT_DATA_H

#include <string.h>

#include "hcct/children.h"
#include "hcct/hcct.h"

struct counter_kind {
    uint32_t head; /* words in front of a node */
    bool promises;
    bool marks; /* the monitored nodes */
    int (*open)(struct hcct *h,
                const struct hcct_options *options); /* -EINVAL, -ENOMEM; NULL: no own state */
    void (*close)(struct hcct *h);
    size_t (*bytes)(const struct hcct *h); /* of its own memory; NULL: none */
    /* Adds values, of a weight above 0, at the node where the trail leads. */
    int (*add)(struct hcct *h, struct cct_node *node, const uint64_t *values);
    void (*abandon)(struct hcct *h, struct cct_node *node); /* adding there failed; NULL: nothing to do */
    /* Adds values at a monitored node that the trail does not lead to. false: not this time; NULL: to `self` alone. */
    bool (*again)(struct hcct *h, struct cct_node *node, const uint64_t *values);
    /* hcct_feed(), with room for one node more on the stack. */
    int (*feed)(struct hcct *h, const uint32_t *events, const uint32_t *weights, size_t count, size_t *done);
    /* Merging: the nodes of another one's paths are there now; joins their counters, without failing. */
    int (*join_begin)(struct hcct *h, const struct hcct *other); /* allocates; NULL */
    void (*join_end)(struct hcct *h);                            /* once estimates and errors are added up */
};

struct hcct {
    const struct counter_kind *kind;
    enum hcct_kind number;
    struct tree tree;
    double eps;
    size_t limit;           /* of counters, or of nodes */
    size_t counters;        /* marked */
    uint64_t unseen;        /* hcct_unseen(); of HCCT_STICKY always 0 */
    bool misses;            /* HCCT_STICKY: paths, so that the error of a new counter is 1 */
    uint64_t random;        /* the generator's state */
    uint64_t epoch;         /* counts the times that nodes were moved or removed; of kinds that do not mark */
    struct hcct_place last; /* of hcct_add() */
    struct cct_node **stack; /* of the calls fed: [0] is the root, [depth] where the thread is */
    size_t depth, stack_capacity;
    void *own;        /* the kind's state */
    uint64_t total[]; /* of each metric */
};

extern const struct counter_kind hcct_exact, hcct_lss, hcct_bss, hcct_lc, hcct_sticky, hcct_purge;

/* Counting where a new node begins at `unseen`, so that it needs no test. */
int hcct_exact_add(struct hcct *h, struct cct_node *node, const uint64_t *values);
int hcct_exact_feed(struct hcct *h, const uint32_t *events, const uint32_t *weights, size_t count,
                    size_t *done);

#define HCCT_MOST_COUNTERS ((size_t)1 << 40)

/* 1/eps, rounded up. */
size_t hcct_limit(double eps);

static inline bool hcct_is_monitored(const struct hcct *h, const struct cct_node *node)
{
    return h->kind->marks ? node->links & NODE_MONITORED : node->self[0] > h->unseen;
}

/* The upper bound of a monitored node's weight, and how much of it may not be its own. */
static inline uint64_t hcct_estimate(const struct hcct *h, const struct cct_node *node, uint64_t *error)
{
    *error = h->kind->head >= HEAD_ERROR ? cct_error(node) : 0;
    if (h->number == HCCT_STICKY)
        *error = *error ? hcct_unseen(h) : 0;
    return add_saturating(node->self[0], h->number == HCCT_STICKY ? *error : 0);
}

/* Removes a node without a mark and children, and then its ancestors likewise (paper, Figure 4); spares what is
 * NODE_HELD. For counters that mark nodes, with parents. */
void hcct_prune(struct hcct *h, struct cct_node *node);
/* The node's counter is no more. */
void hcct_forget(struct hcct *h, struct cct_node *node);

/* Of kinds that do not mark: a node that is not monitored begins anew. */
static inline void hcct_restart(struct hcct *h, struct cct_node *node)
{
    memset(node->self, 0, h->tree.metrics * sizeof *node->self);
    node->self[0] = *cct_error_of(node) = h->unseen;
}

/* Removes every leaf that is not monitored, and what becomes one; those where the stream is are spared. Calls `keep`
 * (NULL: nothing) for each other node that is not monitored, children first. -ENOMEM: not all were removed or kept. */
int hcct_sweep(struct hcct *h, void (*keep)(struct hcct *h, struct cct_node *node));

/* Marks the nodes where the stream is as NODE_HELD, or no longer. */
void hcct_hold(struct hcct *h, bool held);

/* Room for one more node on the stack. */
bool hcct_deepen(struct hcct *h);

/* A walk of all nodes, parents first. */
struct hcct_walk {
    const struct cct_node **next; /* siblings and children to come */
    size_t count, capacity;
    bool failed; /* out of memory: some were left out */
};
struct hcct_walk hcct_walk(const struct hcct *h);
const struct cct_node *hcct_walk_next(struct hcct_walk *walk); /* NULL at the end */
void hcct_walk_end(struct hcct_walk *walk);

/* splitmix64 (public domain) */
static inline uint64_t hcct_random(struct hcct *h)
{
    return hash_random(&h->random);
}

#endif
