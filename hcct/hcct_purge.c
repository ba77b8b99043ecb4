/*
 * hcct_purge.c - the counters that remove many paths at once: the purging one and Lossy Counting.
 *
 * Both raise `unseen` from time to time, and remove the paths whose estimate does not exceed it. A new path begins at `unseen`,
 * which is its error. Then an estimate exceeds the weight by at most its error, and a missing path weighs at most `unseen`.
 *
 * Purging: when all nodes are in use, `unseen` becomes the median of the estimates of SAMPLES monitored nodes, so that about
 * half of them are removed: a new node costs a constant number of steps (Anderson et al., A High-Performance Algorithm for
 * Identifying Frequent Items in Data Streams, IMC 2017, section 2.3, where counters are decremented instead). How high `unseen`
 * gets depends on the stream.
 *
 * Lossy Counting: `unseen` becomes eps * N, which is the guarantee. The paper does so after each 1/eps of weight; with weights
 * that would be for nearly every path. Here it is done when the tree has twice the nodes that the last time left, or 1/eps: a
 * later removal removes what an earlier one would have, and less of a path's weight is lost.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/select.h"
#include "hcct/hcct_compact.h"

#define SAMPLES     1024
#define NODES_EACH  0.85 /* nodes per counter, of which there are 1/eps: their ancestors need some */
#define FEW_NODES   64
#define FEW_SAMPLES 16
#define MOST_NODES  ((size_t)1 << 26)

static void raise_unseen(struct hcct *h, uint64_t unseen)
{
    h->unseen = h->tree.fresh = unseen;
    h->tree.root->self[0] = unseen; /* it is not a path */
}

/* Collects the estimates above `unseen` of randomly chosen nodes, which are all in one block; returns their number. */
static size_t sample_estimates(struct hcct *h, uint64_t *out)
{
    size_t count = 0, words = h->tree.nodes.object / sizeof(uint64_t);
    const uint64_t *first = slab_first(&h->tree.nodes);
    for (size_t i = 0; i < 2 * SAMPLES && count < SAMPLES; i++) {
        const uint64_t *at = first + hcct_random(h) % h->tree.count * words;
        uint64_t estimate = ((const struct cct_node *)(at + h->tree.head))->self[0];
        if (estimate > h->unseen)
            out[count++] = estimate;
    }
    return count;
}

/* The same wherever nodes are (Vitter's algorithm R). */
static size_t sample_walk(struct hcct *h, uint64_t *out)
{
    size_t count = 0, seen = 0;
    struct hcct_walk walk = hcct_walk(h);
    for (const struct cct_node *node; (node = hcct_walk_next(&walk)) != NULL;) {
        if (!hcct_is_monitored(h, node))
            continue;
        size_t at = seen++ < SAMPLES ? count++ : hcct_random(h) % seen;
        if (at < SAMPLES)
            out[at] = node->self[0];
    }
    hcct_walk_end(&walk);
    return count;
}

/* Raises `unseen` to the median of these estimates. false: they are few, as most nodes are their ancestors, or on the stream's
 * path. */
static bool raise_to_median(struct hcct *h)
{
    uint64_t samples[SAMPLES];
    size_t count = slab_is_one(&h->tree.nodes) ? sample_estimates(h, samples) : sample_walk(h, samples);
    if (count < FEW_SAMPLES)
        return false;
    raise_unseen(h, select_u64(samples, (uint32_t)count, (uint32_t)count / 2));
    return true;
}

static bool purge_by_median(void *context, struct cct_node **parent)
{
    struct hcct *h = context;
    raise_to_median(h);
    return hcct_compact(h, h->own, raise_to_median, parent) == 0;
}

static int purge_open(struct hcct *h, const struct hcct_options *options)
{
    h->limit = hcct_limit(options->eps / NODES_EACH);
    h->limit = h->limit < FEW_NODES ? FEW_NODES : h->limit < MOST_NODES ? h->limit : MOST_NODES;
    h->own = calloc(1, sizeof(struct hcct_compactor));
    if (!h->own || tree_reserve(&h->tree, h->limit) < 0)
        return -ENOMEM;
    h->tree.full = h->limit;
    h->tree.make_room = purge_by_median;
    h->tree.context = h;
    return 0;
}

static void purge_close(struct hcct *h)
{
    free(((struct hcct_compactor *)h->own)->scratch);
    free(h->own);
}

static size_t purge_bytes(const struct hcct *h)
{
    return ((const struct hcct_compactor *)h->own)->capacity * sizeof(uint64_t);
}

static bool purge_by_rate(void *context, struct cct_node **parent)
{
    struct hcct *h = context;
    long double bound = (long double)h->eps * h->total[0];
    (void)parent;
    raise_unseen(h, bound < 0x1p63L ? (uint64_t)bound : UINT64_MAX / 2);
    if (hcct_sweep(h, hcct_restart) < 0)
        return false;
    h->tree.full = 2 * h->tree.count > h->limit ? 2 * h->tree.count : h->limit;
    return true;
}

static int lossy_open(struct hcct *h, const struct hcct_options *options)
{
    h->limit = h->tree.full = hcct_limit(options->eps);
    h->tree.make_room = purge_by_rate;
    h->tree.context = h;
    return 0;
}

const struct counter_kind hcct_purge = {
    .head = HEAD_ERROR,
    .open = purge_open,
    .close = purge_close,
    .bytes = purge_bytes,
    .add = hcct_exact_add,
    .feed = hcct_exact_feed,
};

const struct counter_kind hcct_lc = {
    .head = HEAD_ERROR,
    .promises = true,
    .open = lossy_open,
    .add = hcct_exact_add,
    .feed = hcct_exact_feed,
};
