/*
 * sticky.c - Sticky Sampling (Manku and Motwani, Approximate Frequency Counts over Data Streams, VLDB 2002, section 4.1): a
 * path without a counter gets one with probability 1/r for each unit of weight.
 *
 * With t = 1/eps * log(1/(phi * delta)), r is 1 for the first 2t of weight, 2 for the next 2t, 4 for the next 4t, and so on.
 * When r doubles, each counter becomes what it would be had r had this value from the start: it loses 1 for each tail of a
 * coin, up to the first head. At most 2t counters are expected, however long the stream is.
 *
 * A node's weight is what was counted since it got a counter; its error is 1 if that may not be all, in which case it is too
 * low by at most eps * N, except with probability delta.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hcct/hcct_feed.h"

struct sticky {
    double t;
    uint64_t rate;  /* r */
    double due;     /* the weight at which r doubles */
    uint64_t to_go; /* weight of paths without a counter until the next one gets a counter */
    double seen;    /* total weight */
};

static struct sticky *sticky_of(const struct hcct *h)
{
    return h->own;
}

/* The number of tries until one succeeds, with probability 1/r: geometric, at least 1. */
static uint64_t draw_geometric(struct hcct *h, uint64_t rate)
{
    if (rate <= 1)
        return 1;
    double u = ((double)(hcct_random(h) >> 11) + 1) * 0x1p-53;
    double tries = ceil(log(u) / log1p(-1 / (double)rate));
    return tries < 1 ? 1 : tries < 0x1p63 ? (uint64_t)tries : UINT64_MAX / 2;
}

static int open_sticky(struct hcct *h, const struct hcct_options *options)
{
    if (!(options->phi > options->eps && options->phi < 1 && options->delta > 0 && options->delta < 1))
        return -EINVAL;
    struct sticky *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    s->t = log(1 / (options->phi * options->delta)) / options->eps;
    s->rate = 1;
    s->due = 2 * s->t;
    s->to_go = 1;
    h->own = s;
    return 0;
}

static void close_sticky(struct hcct *h)
{
    free(h->own);
}

static size_t bytes_sticky(const struct hcct *h)
{
    (void)h;
    return sizeof(struct sticky);
}

/* Reduces a counter by coin tosses, up to the first head, and sets its error. */
static void reduce_counter(struct hcct *h, struct cct_node *node)
{
    if (!(node->links & NODE_MONITORED))
        return;
    uint64_t tails = draw_geometric(h, 2) - 1;
    if (!tails)
        return;
    if (tails < node->self[0]) {
        node->self[0] -= tails;
        *cct_error_of(node) = 1;
        return;
    }
    hcct_forget(h, node);
    h->counters--;
}

static int double_rate(struct hcct *h)
{
    struct sticky *s = sticky_of(h);
    s->rate *= 2;
    s->due *= 2;
    h->misses = true;
    s->to_go = draw_geometric(h, s->rate);
    struct hcct_walk walk = hcct_walk(h);
    for (const struct cct_node *node; (node = hcct_walk_next(&walk)) != NULL;)
        reduce_counter(h, (struct cct_node *)(uintptr_t)node);
    hcct_walk_end(&walk);
    return walk.failed ? -ENOMEM : hcct_sweep(h, NULL);
}

/* Counts the weight of a node, which may give it a counter. */
static inline bool count_weight(struct hcct *h, struct cct_node *node, uint64_t weight)
{
    struct sticky *s = sticky_of(h);
    while (s->seen + (double)weight >= s->due)
        if (double_rate(h) < 0)
            return false;
    s->seen += (double)weight;
    if (node->links & NODE_MONITORED) {
        node->self[0] = add_saturating(node->self[0], weight);
    } else if (weight < s->to_go) {
        s->to_go -= weight;
    } else {
        node->links |= NODE_MONITORED;
        node->self[0] = weight - s->to_go + 1;
        *cct_error_of(node) = h->misses;
        h->counters++;
        s->to_go = draw_geometric(h, s->rate);
    }
    return true;
}

/* Removes the nodes of a path that got no counter. */
static void drop_path(struct hcct *h)
{
    struct trail *trail = &h->tree.trail;
    while (trail->count) {
        struct cct_node *node = trail->nodes[trail->count - 1];
        if (node->first_child || node->links & NODE_MONITORED)
            return;
        trail->count--;
        tree_remove(&h->tree, trail->count ? trail->nodes[trail->count - 1] : h->tree.root, node);
    }
}

static int sticky_add(struct hcct *h, struct cct_node *node, const uint64_t *values)
{
    bool counted = count_weight(h, node, values[0]);
    if (node->links & NODE_MONITORED)
        values_add(node->self + 1, values + 1, h->tree.metrics - 1);
    drop_path(h);
    return counted ? 0 : -ENOMEM;
}

/* Declines if the rate has to double, as that may remove the node. */
static bool sticky_add_again(struct hcct *h, struct cct_node *node, const uint64_t *values)
{
    struct sticky *s = sticky_of(h);
    if (s->seen + (double)values[0] >= s->due)
        return false;
    s->seen += (double)values[0];
    values_add(node->self, values, h->tree.metrics);
    return true;
}

static void sticky_abandon(struct hcct *h, struct cct_node *node)
{
    (void)node;
    hcct_sweep(h, NULL);
}

static inline bool sticky_enter(struct hcct *h, struct cct_node *node, uint64_t weight, bool resumed)
{
    return resumed || !weight || count_weight(h, node, weight);
}

static inline void sticky_leave(struct hcct *h, struct cct_node *parent, struct cct_node *node)
{
    if (!node->first_child && !(node->links & NODE_MONITORED))
        tree_remove(&h->tree, parent, node);
}

static const struct hcct_feeder feeder = {.enter = sticky_enter, .leave = sticky_leave, .looks = true};

HCCT_FEED(feed, feeder)

const struct counter_kind hcct_sticky = {
    .head = HEAD_ERROR,
    .promises = true,
    .marks = true,
    .open = open_sticky,
    .close = close_sticky,
    .bytes = bytes_sticky,
    .add = sticky_add,
    .again = sticky_add_again,
    .abandon = sticky_abandon,
    .feed = feed,
};
