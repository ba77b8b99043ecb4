/*
 * hcct_data.h - the internals of a counter.
 *
 * The estimate of a monitored path is self[0], its error cct_error(). Monitored nodes are recognised in one of two ways:
 * - LSS, BSS and Sticky Sampling mark them (NODE_MONITORED); a node without the mark has no values;
 * - in the others a new node begins at `unseen`, the most that a path that is not monitored may weigh; nodes above that are
 *   monitored, so that counting needs no test. When `unseen` grows (hcct_purge.c), the unmonitored ones are raised with it.
 * Every leaf is monitored, except the root and those on the stream's path.
 */
#ifndef FATHOM_HCCT_HCCT_DATA_H
#define FATHOM_HCCT_HCCT_DATA_H

#include <string.h>

#include "hcct/children.h"
#include "hcct/hcct.h"

struct counter_kind {
    uint32_t head; /* words before a node */
    bool promises;
    bool marks; /* it marks monitored nodes */
    int (*open)(struct hcct *h,
                const struct hcct_options *options); /* -EINVAL, -ENOMEM; NULL: it has no own state */
    void (*close)(struct hcct *h);
    size_t (*bytes)(const struct hcct *h); /* of its own memory; NULL: none */
    /* Adds values, with a weight above 0, at the node at the end of the trail. */
    int (*add)(struct hcct *h, struct cct_node *node, const uint64_t *values);
    /* after `add` failed there; NULL: nothing to do */
    void (*abandon)(struct hcct *h, struct cct_node *node);
    /* Adds values at a monitored node that the trail does not lead to. false: it declined; NULL: adds to `self` only. */
    bool (*again)(struct hcct *h, struct cct_node *node, const uint64_t *values);
    /* hcct_feed(), with space for one more node on the stack. */
    int (*feed)(struct hcct *h, const uint32_t *events, const uint32_t *weights, size_t count, size_t *done);
};

struct hcct {
    const struct counter_kind *kind;
    enum hcct_kind number;
    struct tree tree;
    double eps;
    size_t limit;           /* maximum number of counters, or of nodes */
    size_t counters;        /* number of marked nodes */
    uint64_t unseen;        /* hcct_unseen(); always 0 for HCCT_STICKY */
    bool misses;            /* HCCT_STICKY: it skips paths, so a new counter has error 1 */
    uint64_t random;        /* state of the random generator */
    uint64_t epoch;         /* how many times nodes were moved or removed; for kinds without marks */
    struct hcct_place last; /* set by hcct_add() */
    /* of the calls that were fed: [0] is the root, [depth] is where the thread is */
    struct cct_node **stack;
    size_t depth, stack_capacity;
    void *own;        /* the kind's state */
    uint64_t total[]; /* of each metric */
};

#define HCCT_DECLARATION(kind, name, functions) extern const struct counter_kind functions;
HCCT_EACH(HCCT_DECLARATION)

/* For kinds whose new nodes begin at `unseen`, so that no test is needed. */
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

/* Removes a node without a mark and children, and then its ancestors likewise (paper, Figure 4); spares NODE_HELD. For counters
 * that mark nodes, with parents. */
void hcct_prune(struct hcct *h, struct cct_node *node);
/* The node loses its counter. */
void hcct_forget(struct hcct *h, struct cct_node *node);

/* For kinds without marks: resets a node that is not monitored. */
static inline void hcct_restart(struct hcct *h, struct cct_node *node)
{
    memset(node->self, 0, h->tree.metrics * sizeof *node->self);
    node->self[0] = *cct_error_of(node) = h->unseen;
}

/* Removes every leaf that is not monitored, and what becomes one, except on the stream's path. Calls `keep` (NULL: nothing) for
 * each other node that is not monitored, children first. -ENOMEM: not all were processed. */
int hcct_sweep(struct hcct *h, void (*keep)(struct hcct *h, struct cct_node *node));

/* Marks the nodes on the stream's path as NODE_HELD, or clears that. */
void hcct_hold(struct hcct *h, bool held);

/* Makes space for one more node on the stack. */
bool hcct_deepen(struct hcct *h);

/* A walk of all nodes, parents first. */
struct hcct_walk {
    const struct cct_node **next; /* stack of siblings and children to visit */
    size_t count, capacity;
    bool failed; /* out of memory: some were skipped */
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
