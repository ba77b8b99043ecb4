/*
 * hcct_lss.c - Lazy Space Saving (HCCT paper, section 4.1), with weights.
 *
 * At most 1/eps paths have counters, which sum up to at most N, so the smallest is at most eps * N. A path without a counter
 * gets the smallest one, whose value becomes the new path's error. How the smallest is found: base/least.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/least.h"
#include "base/vec.h"
#include "hcct/hcct_feed.h"
#include "hcct/hcct_saving.h"

struct lss {
    struct cct_node **nodes; /* nodes with counters, by slot: h->counters of them */
    size_t capacity;
    struct least least;
};

static struct lss *lss_of(const struct hcct *h)
{
    return h->own;
}

static int open_lss(struct hcct *h, const struct hcct_options *options)
{
    h->limit = hcct_limit(options->eps);
    h->limit = h->limit < UINT32_MAX ? h->limit : UINT32_MAX;
    struct lss *lss = h->own = calloc(1, sizeof *lss);
    if (!lss)
        return -ENOMEM;
    lss->least.samples = malloc(LEAST_SAMPLES * sizeof *lss->least.samples);
    if (lss->least.samples)
        return 0;
    free(lss);
    h->own = NULL;
    return -ENOMEM;
}

static void close_lss(struct hcct *h)
{
    free(lss_of(h)->nodes);
    free(lss_of(h)->least.heap);
    free(lss_of(h)->least.samples);
    free(h->own);
}

static size_t bytes_lss(const struct hcct *h)
{
    const struct lss *lss = lss_of(h);
    return sizeof *lss + lss->capacity * sizeof(*lss->nodes) +
           lss->least.capacity * sizeof(*lss->least.heap) + LEAST_SAMPLES * sizeof(*lss->least.samples);
}

static uint64_t value_of(const void *nodes, uint32_t slot)
{
    return ((struct cct_node *const *)nodes)[slot]->self[0];
}

static bool reserve_least(struct least *least)
{
    return vec_reserve(least->heap, least->count, least->capacity, 1);
}

/* Gives the node, which has none, a counter. Returns the node that lost it, or the node itself; NULL: out of memory. */
static struct cct_node *take_counter(struct hcct *h, struct cct_node *node)
{
    struct lss *lss = lss_of(h);
    if (h->counters < h->limit) {
        if (!vec_push(lss->nodes, h->counters, lss->capacity, node))
            return NULL;
        saving_monitor(h, node);
        return node;
    }
    uint32_t slot = least_find(&lss->least, lss->nodes, (uint32_t)h->counters, value_of, reserve_least);
    if (slot == LEAST_NONE)
        return NULL;
    struct cct_node *victim = lss->nodes[slot];
    if (h->unseen < victim->self[0])
        h->unseen = victim->self[0];
    hcct_forget(h, victim);
    saving_monitor(h, node);
    lss->nodes[slot] = node;
    return victim;
}

static int lss_add(struct hcct *h, struct cct_node *node, const uint64_t *values)
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

static inline bool lss_enter(struct hcct *h, struct cct_node *node, uint64_t weight, bool resumed)
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

static const struct hcct_feeder feeder = {.enter = lss_enter, .leave = saving_leave};

HCCT_FEED(feed, feeder)

const struct counter_kind hcct_lss = {
    .head = HEAD_PARENT,
    .promises = true,
    .marks = true,
    .open = open_lss,
    .close = close_lss,
    .bytes = bytes_lss,
    .add = lss_add,
    .abandon = hcct_prune,
    .feed = feed,
};
