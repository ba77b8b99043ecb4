/*
 * counters.c - the counters of the HCCT paper over a thread's tree, in which only some nodes have a weight: the
 * monitored ones. entry.S adds to these; entries at other nodes come here. When the tree has reached its limit,
 * nodes without weight and without a monitored descendant are removed (purge.c).
 *
 *    - Lazy Space Saving (section 4.1): 1/eps nodes are monitored. A new one takes the place and the weight of the least.
 *    - Bucket Space Saving: the same, with another data structure (summary.c).
 *    - Lossy Counting (Manku and Motwani, VLDB 2002, section 4.2): all nodes are monitored, but from time to time those are dropped
 *      whose weight, plus what it may have lacked when they were entered, is less than eps * N.
 *    - Sticky Sampling (the same, section 4.1): a new node is monitored with probability 1/rate. When the rate doubles, each
 *      weight loses what it would have missed.
 *
 * hcct/ has them over recorded traces, where only the counter adds and removes nodes. An entry in a signal
 * handler that interrupted another one here is lost, unless it is at a monitored node (with Bucket Space Saving:
 * also then).
 */
#include <errno.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

static uint64_t *missed; /* Lossy Counting, by node: what its weight may have lacked when monitoring began */
static uint64_t missed_count;

static void add_weight(uint32_t node, uint64_t weight)
{
    __asm__ volatile("addq %1, %0" : "+m"(probe_nodes[node].count) : "r"(weight));
}

static void lose_weight(uint64_t weight)
{
    __atomic_fetch_add(&core.header->purged, weight, __ATOMIC_RELAXED);
}

/* Reported as the reason why calls are lost. */
static void lack_memory(void)
{
    if (!core.header->failure)
        core.header->failure = ENOMEM;
    __atomic_fetch_add(&core.header->dropped, 1, __ATOMIC_RELAXED);
}

/* Adds lost weight to the bound: all of it may belong to one path. */
static void lose_of_one(uint64_t weight)
{
    lose_weight(weight);
    __atomic_fetch_add(&core.header->bound, weight, __ATOMIC_RELAXED);
}

void counters_bound(struct counters *c, uint64_t bound)
{
    if (bound <= c->bound)
        return;
    __atomic_fetch_add(&core.header->bound, bound - c->bound, __ATOMIC_RELAXED);
    c->bound = bound;
}

/* Lazy Space Saving -------------------------------------------------------------------------------------- */

static uint64_t value_of(const void *nodes, uint32_t slot)
{
    return store_count(probe_nodes + ((const uint32_t *)nodes)[slot]);
}

/* Reserves memory for the largest number of monitored nodes. */
static bool reserve_least(struct least *least)
{
    return least->count < least->capacity;
}

static bool make_room(struct counters *c)
{
    uint32_t count = core.recording.counters;
    size_t heap = count * sizeof *c->least.heap, samples = LEAST_SAMPLES * sizeof *c->least.samples;
    uint8_t *memory = core_reserve(heap + samples + count * sizeof *c->nodes);
    if (!memory)
        return false;
    c->least.heap = (struct least_candidate *)memory;
    c->least.capacity = count;
    c->least.samples = (uint64_t *)(memory + heap);
    c->nodes = (uint32_t *)(memory + heap + samples);
    return true;
}

static void monitor_least(struct counters *c, uint32_t node, uint64_t weight)
{
    if (!c->nodes && !make_room(c)) {
        add_weight(node, weight); /* all nodes are monitored then */
        return;
    }
    uint32_t slot = c->used;
    if (c->used < core.recording.counters) {
        c->used++;
    } else {
        slot = least_find(&c->least, c->nodes, c->used, value_of, reserve_least);
        struct store_node *victim = probe_nodes + c->nodes[slot];
        uint64_t has = store_count(victim);
        victim->count -= has;
        counters_bound(c, has);
        weight += has;
    }
    c->nodes[slot] = node;
    add_weight(node, weight);
}

/* Lossy Counting ----------------------------------------------------------------------------------------- */

static uint64_t lose_light(struct thread *thread, uint32_t node, uint64_t has)
{
    return has + missed[node] <= thread->counters.bound ? has : 0;
}

static bool monitor_lossy(struct thread *thread, uint32_t node, uint64_t weight)
{
    struct counters *c = &thread->counters;
    if (++c->used >= core.recording.counters) {
        c->used = 0;
        counters_bound(c, thread->total / core.recording.counters);
        purge_weights(thread, node, lose_light);
    }
    if (node >= missed_count)
        return false;
    missed[node] = c->bound;
    add_weight(node, weight);
    return true;
}

/* Sticky Sampling ---------------------------------------------------------------------------------------- */

/* Tosses a coin for each unit, up to the first head. */
static uint64_t lose_tails(struct thread *thread, uint32_t node, uint64_t has)
{
    (void)node;
    uint64_t random = hash_random(&thread->counters.least.random);
    uint64_t tails = random ? (uint64_t)__builtin_ctzll(random) : 64;
    return tails < has ? tails : has;
}

static bool monitor_sticky(struct thread *thread, uint32_t node, uint64_t weight)
{
    struct counters *c = &thread->counters;
    if (!c->rate) {
        c->rate = 1;
        c->due = 2 * core.recording.sticky_t;
    }
    while (thread->total >= c->due && c->due << 1 > c->due) {
        c->rate *= 2;
        c->due *= 2;
        purge_weights(thread, node, lose_tails);
    }
    if (hash_random(&c->least.random) & (c->rate - 1))
        return false;
    add_weight(node, weight);
    return true;
}

/* -------------------------------------------------------------------------------------------------------- */

bool counters_start(void)
{
    if (core.recording.counter == RECORD_BSS)
        return summary_start();
    if (core.recording.counter != RECORD_LC)
        return true;
    missed_count = (core.store_size - STORE_NODES_AT) / sizeof(struct store_node);
    missed = core_reserve(missed_count * sizeof *missed);
    return missed != NULL;
}

void counters_forget(struct thread *thread)
{
    thread->total = 0;
    thread->counters.used = 0;
    thread->counters.bound = thread->counters.rate = 0;
    least_restart(&thread->counters.least);
    thread->counters.summary = NULL; /* the call that forked in a handler may continue with the parent's */
}

static bool monitor_node(struct thread *thread, uint32_t node, uint64_t weight)
{
    switch (core.recording.counter) {
    case RECORD_LSS:
        monitor_least(&thread->counters, node, weight);
        return true;
    case RECORD_LC:
        return monitor_lossy(thread, node, weight);
    default:
        return monitor_sticky(thread, node, weight);
    }
}

void counters_add(struct thread *thread, uint32_t node, uint64_t weight, bool nested)
{
    __asm__ volatile("addq %1, %0" : "+m"(thread->total) : "r"(weight));
    if (core.recording.counter == RECORD_BSS) {
        bool counted = weight && !nested && summary_add(&thread->counters, node, weight);
        if (weight && !counted)
            lose_of_one(weight);
        if (weight && !counted && !nested)
            lack_memory();
    } else if (store_count(probe_nodes + node)) {
        add_weight(node, weight);
    } else if (weight && nested) {
        lose_of_one(weight);
    } else if (weight && !monitor_node(thread, node, weight)) {
        lose_weight(weight);
    }
}
