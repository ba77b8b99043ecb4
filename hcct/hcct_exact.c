/* hcct_exact.c - every path has its weight. */
#include "hcct/hcct_feed.h"

int hcct_exact_add(struct hcct *h, struct cct_node *node, const uint64_t *values)
{
    values_add(node->self, values, h->tree.metrics);
    return 0;
}

static inline bool exact_enter(struct hcct *h, struct cct_node *node, uint64_t weight, bool resumed)
{
    (void)h;
    node->self[0] += resumed ? 0 : weight; /* 32 bits each: only 4 billion of them could overflow */
    return true;
}

static const struct hcct_feeder feeder = {.enter = exact_enter};

HCCT_FEED(feed, feeder)

int hcct_exact_feed(struct hcct *h, const uint32_t *events, const uint32_t *weights, size_t count,
                    size_t *done)
{
    return feed(h, events, weights, count, done);
}

const struct counter_kind hcct_exact = {
    .head = HEAD_NOTHING,
    .promises = true,
    .add = hcct_exact_add,
    .feed = hcct_exact_feed,
};
