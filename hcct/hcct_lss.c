/*
 * hcct_lss.c - Lazy Space Saving (HCCT paper, section 4.1), with weights.
 *
 * At most 1/eps paths have counters, which sum up to N at most: so the least of them is at most eps * N. It is given to
 * a path without one, and what it had been is the new one's error.
 *
 * The paper's find-min scans an array for another counter that equals the minimum; with weights there hardly
 * is one, and each eviction would scan all. Here a scan puts all counters up to a cutoff, about one in CUT, into a heap
 * that stays in the cache. Its keys are lower bounds: adding to a counter leaves its bound as it is (counters only grow),
 * and an eviction repairs the top of the heap until it is exact, or drops what has grown past the cutoff. All others
 * are above it; when the heap is empty they are scanned again.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/vec.h"
#include "hcct/hcct_feed.h"
#include "hcct/hcct_saving.h"

#define CUT     16
#define SAMPLES 512

struct candidate {
    uint64_t bound; /* at most the counter's value */
    uint32_t slot;
};

struct lss {
    struct cct_node **nodes; /* those with counters, by slot: h->counters of them */
    size_t room;
    struct candidate *heap; /* by bound; each slot at most once */
    size_t heap_count, heap_room;
    uint64_t cutoff; /* a counter that has no candidate is above it */
};

static struct lss *lss_of(const struct hcct *h)
{
    return h->own;
}

static int open_lss(struct hcct *h, const struct hcct_options *options)
{
    h->limit = hcct_limit(options->eps);
    h->limit = h->limit < UINT32_MAX ? h->limit : UINT32_MAX;
    h->own = calloc(1, sizeof(struct lss));
    return h->own ? 0 : -ENOMEM;
}

static void close_lss(struct hcct *h)
{
    free(lss_of(h)->nodes);
    free(lss_of(h)->heap);
    free(h->own);
}

static size_t bytes_lss(const struct hcct *h)
{
    const struct lss *lss = lss_of(h);
    return sizeof *lss + lss->room * sizeof(*lss->nodes) + lss->heap_room * sizeof(*lss->heap);
}

static void sift_down(struct lss *lss, size_t at)
{
    struct candidate *heap = lss->heap, moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < lss->heap_count; at = child) {
        if (child + 1 < lss->heap_count && heap[child + 1].bound < heap[child].bound)
            child++;
        if (moved.bound <= heap[child].bound)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Chooses the cutoff and collects the candidates; there is at least one. */
static bool scan(struct hcct *h)
{
    struct lss *lss = lss_of(h);
    uint64_t sample[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++)
        sample[i] = lss->nodes[hcct_random(h) % h->counters]->self[0];
    qsort(sample, SAMPLES, sizeof *sample, compare_u64);
    lss->cutoff = sample[SAMPLES / CUT];
    for (size_t i = 0; i < h->counters; i++) {
        uint64_t value = lss->nodes[i]->self[0];
        struct candidate candidate = {value, (uint32_t)i};
        if (value <= lss->cutoff && !vec_push(lss->heap, lss->heap_count, lss->heap_room, candidate))
            return false;
    }
    for (size_t i = lss->heap_count / 2; i-- > 0;)
        sift_down(lss, i);
    return true;
}

/* Makes the top of the heap that of the smallest counter. false: out of memory. */
static bool find_minimum(struct hcct *h)
{
    struct lss *lss = lss_of(h);
    for (;;) {
        if (!lss->heap_count && !scan(h)) {
            lss->heap_count = 0;
            return false;
        }
        struct candidate *top = lss->heap;
        uint64_t value = lss->nodes[top->slot]->self[0];
        if (value == top->bound)
            return true;
        if (value <= lss->cutoff)
            top->bound = value;
        else
            *top = lss->heap[--lss->heap_count];
        if (lss->heap_count)
            sift_down(lss, 0);
    }
}

/* The node has no counter. NULL: out of memory. Else the node that had it, or the node itself. */
static struct cct_node *take_counter(struct hcct *h, struct cct_node *node)
{
    struct lss *lss = lss_of(h);
    if (h->counters < h->limit) {
        if (!vec_push(lss->nodes, h->counters, lss->room, node))
            return NULL;
        saving_monitor(h, node);
        return node;
    }
    if (!find_minimum(h))
        return NULL;
    uint32_t slot = lss->heap->slot; /* its bound holds for the new one, too */
    struct cct_node *victim = lss->nodes[slot];
    if (h->unseen < victim->self[0])
        h->unseen = victim->self[0];
    hcct_forget(h, victim);
    saving_monitor(h, node);
    lss->nodes[slot] = node;
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

static const struct hcct_feeder feeder = {.enter = enter, .leave = saving_leave};

HCCT_FEED(feed, feeder)

static int join_begin(struct hcct *h, const struct hcct *other)
{
    return vec_reserve(lss_of(h)->nodes, h->counters, lss_of(h)->room, other->counters) ? 0 : -ENOMEM;
}

static void join_end(struct hcct *h)
{
    lss_of(h)->heap_count = 0;
    saving_collect(h, lss_of(h)->nodes);
}

const struct counter_kind hcct_lss = {
    .head = HEAD_PARENT,
    .promises = true,
    .marks = true,
    .open = open_lss,
    .close = close_lss,
    .bytes = bytes_lss,
    .add = add,
    .abandon = hcct_prune,
    .feed = feed,
    .join_begin = join_begin,
    .join_end = join_end,
};
