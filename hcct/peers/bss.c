/*
 * bss.c - Bucket Space Saving: Space Saving with the Stream-Summary structure (Metwally, Agrawal and El Abbadi, Efficient
 * Computation of Frequent and Top-k Elements in Data Streams, ICDT 2005, section 3.1).
 *
 * There is a bucket for each value that a counter has, in a list sorted by value; each has a list of its nodes. The smallest
 * counter is in the first bucket. A weight of 1 moves a node to the next bucket or to a new one before it: O(1); a larger
 * weight passes all buckets in between.
 */
#include <errno.h>
#include <stdlib.h>

#include "hcct/hcct_feed.h"
#include "hcct/hcct_saving.h"
#include "hcct/slab.h"

struct bucket {
    uint64_t value;
    struct cct_node *first;
    struct bucket *before, *after;
};

struct bss {
    struct bucket end; /* sentinel, before the first and after the last bucket; its value is 0 */
    struct slab buckets;
};

/* Words before a node, in addition to its error and parent. */
enum { HEAD_BUCKET = 3, HEAD_NEXT, HEAD_BEFORE };

static struct bucket **bucket_of(struct cct_node *node)
{
    return (struct bucket **)node - HEAD_BUCKET;
}

static struct cct_node **next_of(struct cct_node *node)
{
    return (struct cct_node **)node - HEAD_NEXT;
}

static struct cct_node **before_of(struct cct_node *node)
{
    return (struct cct_node **)node - HEAD_BEFORE;
}

static struct bss *bss_of(const struct hcct *h)
{
    return h->own;
}

static int open_bss(struct hcct *h, const struct hcct_options *options)
{
    struct bss *bss = calloc(1, sizeof *bss);
    if (!bss)
        return -ENOMEM;
    h->own = bss;
    h->limit = hcct_limit(options->eps);
    bss->end.before = bss->end.after = &bss->end;
    slab_init(&bss->buckets, sizeof(struct bucket));
    return 0;
}

static void close_bss(struct hcct *h)
{
    slab_clear(&bss_of(h)->buckets);
    free(h->own);
}

static size_t bytes_bss(const struct hcct *h)
{
    return sizeof(struct bss) + bss_of(h)->buckets.bytes;
}

/* Inserts a new bucket after another one. */
static struct bucket *bucket_new(struct bss *bss, struct bucket *before, uint64_t value)
{
    struct bucket *b = slab_alloc(&bss->buckets);
    if (!b)
        return NULL;
    *b = (struct bucket){value, NULL, before, before->after};
    before->after->before = b;
    before->after = b;
    return b;
}

static void bucket_drop(struct bss *bss, struct bucket *b)
{
    b->before->after = b->after;
    b->after->before = b->before;
    slab_give(&bss->buckets, b);
}

static void link_node(struct bucket *b, struct cct_node *node)
{
    *bucket_of(node) = b;
    *before_of(node) = NULL;
    *next_of(node) = b->first;
    if (b->first)
        *before_of(b->first) = node;
    b->first = node;
}

static void unlink_node(struct bss *bss, struct cct_node *node)
{
    struct bucket *b = *bucket_of(node);
    struct cct_node *next = *next_of(node), *before = *before_of(node);
    if (next)
        *before_of(next) = before;
    if (before)
        *next_of(before) = next;
    else
        b->first = next;
    if (!b->first)
        bucket_drop(bss, b);
}

/* Raises a linked node's value. */
static bool raise_node(struct bss *bss, struct cct_node *node, uint64_t value)
{
    struct bucket *b = *bucket_of(node), *at = b;
    if (value == b->value) /* the maximum value */
        return true;
    while (at->after != &bss->end && at->after->value <= value)
        at = at->after;
    if (at->value != value) {
        if (b == at && b->first == node && !*next_of(node)) {
            b->value = value; /* it is alone in its bucket, and the order stays */
            return true;
        }
        at = bucket_new(bss, at, value);
        if (!at)
            return false;
    }
    unlink_node(bss, node);
    link_node(at, node);
    return true;
}

/* Links a node with the value `unseen`, which is the smallest. */
static bool link_least(struct hcct *h, struct cct_node *node)
{
    struct bss *bss = bss_of(h);
    struct bucket *first = bss->end.after;
    if (first == &bss->end || first->value != h->unseen)
        first = bucket_new(bss, &bss->end, h->unseen);
    if (first)
        link_node(first, node);
    return first != NULL;
}

/* Gives a node a counter. Returns the node that lost it if all were in use, else the node. NULL: out of memory. */
static struct cct_node *take_counter(struct hcct *h, struct cct_node *node)
{
    struct bss *bss = bss_of(h);
    struct cct_node *victim = node;
    bool full = h->counters == h->limit;
    if (full) {
        victim = bss->end.after->first;
        if (h->unseen < victim->self[0])
            h->unseen = victim->self[0];
    }
    if (!link_least(h, node))
        return NULL;
    saving_monitor(h, node);
    if (full) {
        unlink_node(bss, victim);
        hcct_forget(h, victim);
    } else {
        h->counters++;
    }
    return victim;
}

static int bss_add(struct hcct *h, struct cct_node *node, const uint64_t *values)
{
    struct cct_node *victim = node->links & NODE_MONITORED ? node : take_counter(h, node);
    uint64_t value = add_saturating(node->self[0], values[0]);
    if (!victim)
        return -ENOMEM;
    bool raised = raise_node(bss_of(h), node, value);
    if (raised)
        values_add(node->self, values, h->tree.metrics);
    if (victim != node)
        hcct_prune(h, victim);
    return raised ? 0 : -ENOMEM;
}

static bool bss_add_again(struct hcct *h, struct cct_node *node, const uint64_t *values)
{
    if (!raise_node(bss_of(h), node, add_saturating(node->self[0], values[0])))
        return false;
    values_add(node->self, values, h->tree.metrics);
    return true;
}

static inline bool bss_enter(struct hcct *h, struct cct_node *node, uint64_t weight, bool resumed)
{
    node->links |= NODE_HELD;
    if (resumed || !weight)
        return true;
    struct cct_node *victim = node->links & NODE_MONITORED ? node : take_counter(h, node);
    if (!victim || !raise_node(bss_of(h), node, node->self[0] + weight))
        return false;
    node->self[0] += weight;
    if (victim != node)
        hcct_prune(h, victim);
    return true;
}

static const struct hcct_feeder feeder = {.enter = bss_enter, .leave = saving_leave};

HCCT_FEED(feed, feeder)

const struct counter_kind hcct_bss = {
    .head = HEAD_BEFORE,
    .promises = true,
    .marks = true,
    .open = open_bss,
    .close = close_bss,
    .bytes = bytes_bss,
    .add = bss_add,
    .again = bss_add_again,
    .abandon = hcct_prune,
    .feed = feed,
};
