/*
 * summary.c - Bucket Space Saving: Space Saving with the Stream-Summary structure (Metwally, Agrawal and El
 * Abbadi, Efficient Computation of Frequent and Top-k Elements in Data Streams, ICDT 2005, section 3.1), over a
 * thread's tree.
 *
 * There is a bucket for each weight that occurs, in a list ordered by weight; each has a list of its nodes. The
 * least node is in the first bucket. Every entry moves a node to another bucket, so all entries come here, and
 * none is handled by entry.S. hcct/peers/bss.c does the same over recorded traces.
 */
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define END 0 /* stands for the bucket before the first and after the last one, and for no slot */

struct bucket {
    uint64_t value;
    uint32_t first; /* slot */
    uint32_t before, after;
};

/* The state of a monitored node. */
struct slot {
    uint32_t node, bucket;
    uint32_t before, after; /* in its bucket */
};

/* All indexes start at 1. */
struct summary {
    uint32_t used, buckets_used;
    uint32_t free; /* an unused bucket; `after` links the next one */
    bool changing; /* an entry is being counted, or was abandoned by a handler's longjmp */
    struct bucket *buckets;
    struct slot slots[];
};

static uint32_t *slots_of; /* by node; may be outdated */
static uint64_t slots_of_count;

bool summary_start(void)
{
    slots_of_count = (core.store_size - STORE_NODES_AT) / sizeof(struct store_node);
    slots_of = core_reserve(slots_of_count * sizeof *slots_of);
    return slots_of != NULL;
}

static struct summary *summary_new(void)
{
    uint64_t count = (uint64_t)core.recording.counters + 2;
    uint64_t slots = sizeof(struct summary) + count * sizeof(struct slot);
    struct summary *s = core_reserve(slots + count * sizeof(struct bucket));
    if (s)
        s->buckets = (struct bucket *)((uint8_t *)s + slots);
    return s;
}

static uint32_t bucket_new(struct summary *s, uint32_t before, uint64_t value)
{
    uint32_t b = s->free ? s->free : ++s->buckets_used;
    if (s->free)
        s->free = s->buckets[b].after;
    uint32_t after = s->buckets[before].after;
    s->buckets[b] = (struct bucket){value, END, before, after};
    s->buckets[after].before = s->buckets[before].after = b;
    return b;
}

static void bucket_drop(struct summary *s, uint32_t b)
{
    struct bucket *bucket = &s->buckets[b];
    s->buckets[bucket->before].after = bucket->after;
    s->buckets[bucket->after].before = bucket->before;
    bucket->after = s->free;
    s->free = b;
}

static void link_slot(struct summary *s, uint32_t b, uint32_t slot)
{
    uint32_t first = s->buckets[b].first;
    s->slots[slot].bucket = b;
    s->slots[slot].before = END;
    s->slots[slot].after = first;
    if (first)
        s->slots[first].before = slot;
    s->buckets[b].first = slot;
}

static void unlink_slot(struct summary *s, uint32_t slot)
{
    const struct slot *at = &s->slots[slot];
    if (at->after)
        s->slots[at->after].before = at->before;
    if (at->before)
        s->slots[at->before].after = at->after;
    else
        s->buckets[at->bucket].first = at->after;
    if (!s->buckets[at->bucket].first)
        bucket_drop(s, at->bucket);
}

/* Moves a slot to the bucket of a larger value. */
static void move_slot(struct summary *s, uint32_t slot, uint64_t value)
{
    uint32_t own = s->slots[slot].bucket, at = own;
    while (s->buckets[at].after && s->buckets[s->buckets[at].after].value <= value)
        at = s->buckets[at].after;
    if (s->buckets[at].value != value) {
        if (at == own && s->buckets[own].first == slot && !s->slots[slot].after) {
            s->buckets[own].value = value; /* alone in its bucket, and the order does not change */
            return;
        }
        at = bucket_new(s, at, value);
    }
    unlink_slot(s, slot);
    link_slot(s, at, slot);
}

/* A slot for a node, in the bucket of the node's initial weight, which is set. */
static uint32_t take_slot(struct summary *s, struct counters *c, uint32_t node)
{
    uint32_t first = s->buckets[END].after, slot;
    if (s->used < core.recording.counters) {
        slot = ++s->used;
        /* 0 is the least: it never has a bucket, as each node has some weight. */
        link_slot(s, bucket_new(s, END, 0), slot);
    } else {
        slot = s->buckets[first].first;
        struct store_node *victim = probe_nodes + s->slots[slot].node;
        uint64_t has = store_count(victim);
        victim->count -= has;
        probe_nodes[node].count += has;
        counters_bound(c, has);
    }
    s->slots[slot].node = node;
    slots_of[node] = slot;
    return slot;
}

static void sift_down(struct bucket *heap, uint32_t at, uint32_t count)
{
    struct bucket moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].value > heap[child].value)
            child++;
        if (moved.value >= heap[child].value)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Rebuilds all lists from the weights of the slots' nodes: these are sorted (heapsort, in the memory of the
 * buckets), and each bucket is made when all before it have been read. */
static void relink_slots(struct summary *s)
{
    struct bucket *heap = s->buckets + 1;
    uint32_t count = s->used, last = END;
    for (uint32_t slot = 1; slot <= count; slot++)
        heap[slot - 1] =
            (struct bucket){.value = store_count(probe_nodes + s->slots[slot].node), .first = slot};
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(heap, i, count);
    for (uint32_t end = count; end-- > 1;) {
        struct bucket greatest = heap[0];
        heap[0] = heap[end];
        heap[end] = greatest;
        sift_down(heap, 0, end);
    }
    s->buckets_used = s->free = 0;
    s->buckets[END] = (struct bucket){0};
    for (uint32_t i = 0; i < count; i++) {
        struct bucket next = heap[i];
        if (last == END || s->buckets[last].value != next.value)
            last = bucket_new(s, last, next.value);
        link_slot(s, last, next.first);
    }
}

bool summary_add(struct counters *c, uint32_t node, uint64_t weight)
{
    if (!c->summary) {
        c->summary = summary_new();
        if (!c->summary)
            return false;
    }
    if (node >= slots_of_count)
        return false;
    struct summary *s = c->summary;
    if (s->changing)
        relink_slots(s);
    *(volatile bool *)&s->changing = true;
    BARRIER();
    uint32_t slot = slots_of[node];
    if (!slot || slot > s->used || s->slots[slot].node != node || !store_count(probe_nodes + node))
        slot = take_slot(s, c, node);
    probe_nodes[node].count += weight;
    move_slot(s, slot, store_count(probe_nodes + node));
    BARRIER();
    *(volatile bool *)&s->changing = false;
    return true;
}
