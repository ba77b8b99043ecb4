/*
 * hcct_lss.c - Lazy Space Saving (HCCT paper, section 4.1), with weights.
 *
 * At most 1/eps paths have counters, which sum up to N at most: so the least of them is at most eps * N. It is given to
 * a path without one, and what it had been is the new one's error.
 *
 * The paper's find-min scans an array for another counter that equals the minimum; with weights there hardly
 * is one, and each eviction would scan all. Here a heap holds lower bounds of the counters: adding to a
 * counter leaves its bound as it is (counters only grow), and an eviction repairs the top of the heap until
 * it is exact. An addition causes at most one repair later, so it costs O(log(1/eps)), amortised.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "hcct/hcct_feed.h"

struct counter {
    uint64_t bound; /* at most node->self[0]; a heap by this while `ordered` */
    struct cct_node *node;
};

struct lss {
    struct counter *counters;
    size_t room;
    bool ordered; /* only when all counters are in use */
};

static struct lss *lss_of(const struct hcct *h)
{
    return h->own;
}

static int open_lss(struct hcct *h, const struct hcct_options *options)
{
    h->limit = hcct_limit(options->eps);
    h->own = calloc(1, sizeof(struct lss));
    return h->own ? 0 : -ENOMEM;
}

static void close_lss(struct hcct *h)
{
    free(lss_of(h)->counters);
    free(h->own);
}

static size_t bytes_lss(const struct hcct *h)
{
    return sizeof(struct lss) + lss_of(h)->room * sizeof(struct counter);
}

static void sift_down(struct counter *counters, size_t count, size_t at)
{
    struct counter moved = counters[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && counters[child + 1].bound < counters[child].bound)
            child++;
        if (moved.bound <= counters[child].bound)
            break;
        counters[at] = counters[child];
    }
    counters[at] = moved;
}

/* Makes the top of the heap the node with the smallest counter. */
static void find_minimum(struct hcct *h)
{
    struct lss *lss = lss_of(h);
    struct counter *counters = lss->counters;
    if (!lss->ordered) {
        for (size_t i = 0; i < h->counters; i++)
            counters[i].bound = counters[i].node->self[0];
        for (size_t i = h->counters / 2; i-- > 0;)
            sift_down(counters, h->counters, i);
        lss->ordered = true;
    }
    while (counters[0].bound < counters[0].node->self[0]) {
        counters[0].bound = counters[0].node->self[0];
        sift_down(counters, h->counters, 0);
    }
}

/* Gives a node a counter that begins at `unseen`. */
static void monitor(struct hcct *h, struct counter *counter, struct cct_node *node)
{
    node->links |= NODE_MONITORED;
    node->self[0] = *cct_error_of(node) = h->unseen;
    *counter = (struct counter){h->unseen, node};
}

/* The node has no counter. NULL: out of memory. Else the node that had it, or the node itself. */
static struct cct_node *take_counter(struct hcct *h, struct cct_node *node)
{
    struct lss *lss = lss_of(h);
    if (h->counters < h->limit) {
        if (!vec_reserve(lss->counters, h->counters, lss->room, 1))
            return NULL;
        monitor(h, &lss->counters[h->counters++], node);
        return node;
    }
    find_minimum(h);
    struct cct_node *victim = lss->counters[0].node;
    if (h->unseen < victim->self[0])
        h->unseen = victim->self[0];
    hcct_forget(h, victim);
    monitor(h, &lss->counters[0], node); /* not below its children yet: it is their lower bound, too */
    return victim;
}

static int add(struct hcct *h, struct cct_node *node, const uint64_t *values)
{
    struct cct_node *victim = node;
    if (!(node->links & NODE_MONITORED)) {
        victim = take_counter(h, node);
        if (!victim)
            return -ENOMEM;
    }
    values_add(node->self, values, h->tree.metrics);
    if (victim != node)
        hcct_prune(h, victim); /* the new path stays: its end is monitored */
    return 0;
}

static inline bool enter(struct hcct *h, struct cct_node *node, uint64_t weight, bool resumed)
{
    node->links |= NODE_HELD;
    if (resumed || !weight)
        return true;
    if (!(node->links & NODE_MONITORED)) {
        struct cct_node *victim = take_counter(h, node);
        if (!victim)
            return false;
        if (victim != node)
            hcct_prune(h, victim);
    }
    node->self[0] += weight;
    return true;
}

static inline void leave(struct hcct *h, struct cct_node *parent, struct cct_node *node)
{
    (void)parent;
    node->links &= ~NODE_HELD;
    if (!node->first_child && !(node->links & NODE_MONITORED))
        hcct_prune(h, node);
}

static const struct hcct_feeder feeder = {.enter = enter, .leave = leave};

HCCT_FEED(feed, feeder)

static int join_begin(struct hcct *h, const struct hcct *other)
{
    return vec_reserve(lss_of(h)->counters, h->counters, lss_of(h)->room, other->counters) ? 0 : -ENOMEM;
}

static int compare_counters(const void *a, const void *b)
{
    const struct counter *x = a, *y = b;
    return x->bound > y->bound ? -1 : x->bound < y->bound;
}

/* Collects the marked nodes, and keeps the largest 1/eps of them. */
static void join_end(struct hcct *h)
{
    struct lss *lss = lss_of(h);
    struct cct_node *root = h->tree.root;
    h->counters = 0;
    for (struct cct_node *node = root; node; node = cct_next(root, node))
        if (node->links & NODE_MONITORED)
            lss->counters[h->counters++] = (struct counter){node->self[0], node};
    lss->ordered = false;
    if (h->counters <= h->limit)
        return;
    qsort(lss->counters, h->counters, sizeof *lss->counters, compare_counters);
    if (h->unseen < lss->counters[h->limit].bound)
        h->unseen = lss->counters[h->limit].bound;
    while (h->counters > h->limit)
        hcct_forget(h, lss->counters[--h->counters].node);
}

static void abandon(struct hcct *h, struct cct_node *node)
{
    hcct_prune(h, node);
}

const struct counter_kind hcct_lss = {
    .head = HEAD_PARENT,
    .promises = true,
    .marks = true,
    .open = open_lss,
    .close = close_lss,
    .bytes = bytes_lss,
    .add = add,
    .abandon = abandon,
    .feed = feed,
    .join_begin = join_begin,
    .join_end = join_end,
};
