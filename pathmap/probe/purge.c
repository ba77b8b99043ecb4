/*
 * purge.c - limits a thread's tree: removes nodes of little weight when it has reached its limit.
 *
 * With a counter (counters.c) these are nodes without weight. Without one, the median of the weights of some
 * nodes is subtracted from all nodes; those without weight and children, about half of all, are removed, so a new
 * node costs a constant number of steps (Anderson et al., A High-Performance Algorithm for Identifying Frequent
 * Items in Data Streams, IMC 2017, section 2.3; hcct/hcct_purge.c does the same). The total that was subtracted
 * is known (store.h): so are the sum of all weights, and how much one may lack.
 *
 * Nodes on shadow stacks stay. An entry that a signal handler interrupted may hold others in registers. If it is
 * in core_enter(), nothing is removed; if it is in entry.S, it may then count for a removed node, and put that on
 * the shadow stack: core_enter() finds that such a node has no function, and the calls below it are lost.
 */
#include "base/select.h"
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define SAMPLES     1024
#define FEW_SAMPLES 16 /* with fewer, there are hardly more than ancestors and stacks: the tree may grow */

/* Under the lock. */
static uint64_t samples[SAMPLES];
static uint64_t random_state, purged_median;

/* The nodes of a tree, in two orders. */
static uint32_t deepest_node(uint32_t n)
{
    while (probe_nodes[n].first_child)
        n = probe_nodes[n].first_child;
    return n;
}

static uint32_t next_down(uint32_t n, uint32_t root) /* parents first; 0 at the end */
{
    if (probe_nodes[n].first_child)
        return probe_nodes[n].first_child;
    while (n != root && !probe_nodes[n].next_sibling)
        n = probe_nodes[n].parent;
    return n == root ? 0 : probe_nodes[n].next_sibling;
}

/* Samples weights of nodes at random (Vitter's algorithm R); returns their number. */
static uint32_t sample_weights(uint32_t root)
{
    uint64_t seen = 0;
    uint32_t count = 0;
    for (uint32_t n = root; n; n = next_down(n, root)) {
        uint64_t weight = store_count(&probe_nodes[n]);
        if (!weight || n == root)
            continue;
        uint64_t at = seen++ < SAMPLES ? count++ : hash_random(&random_state) % seen;
        if (at < SAMPLES)
            samples[at] = weight;
    }
    return count;
}

static void hold_node(uint32_t n)
{
    if (n)
        probe_nodes[n].count |= STORE_HELD;
}

static void hold_all(const struct thread *thread, uint32_t keep)
{
    hold_node(thread->root);
    hold_node(keep);
    hold_node(thread->last_node);
    for (uint32_t i = 1; i < core.stack_count; i++) {
        const struct stack *stack = core.stacks + i;
        if (stack->kind == STACK_FREE || stack->thread != thread)
            continue;
        for (const struct frame *f = stack->frames; f <= stack->top; f++)
            hold_node(f->node);
    }
}

static void remove_node(struct thread *thread, uint32_t n)
{
    *(volatile uint32_t *)&probe_nodes[n].function = 0;
    probe_nodes[n].first_child = (uint32_t)thread->removed;
    thread->removed = ((thread->removed >> 32) + 1) << 32 | n;
}

/* Subtracts weight from all nodes, children first. Removed nodes stay in the lists. Returns their number. */
static uint32_t take_weights(struct thread *thread,
                             uint64_t (*less)(struct thread *thread, uint32_t node, uint64_t has))
{
    uint32_t root = thread->root, gone = 0;
    uint64_t taken = 0;
    for (uint32_t n = deepest_node(root);;) {
        struct store_node *node = &probe_nodes[n];
        uint32_t parent = node->parent, sibling = node->next_sibling;
        uint64_t has = store_count(node), loses = has ? less(thread, n, has) : 0;
        node->count -= loses;
        taken += loses;
        if (has > loses || node->count & STORE_HELD) {
            if (n == root)
                break;
            hold_node(parent);
        } else {
            remove_node(thread, n);
            gone++;
        }
        n = sibling ? deepest_node(sibling) : parent;
    }
    __atomic_fetch_add(&core.header->purged, taken, __ATOMIC_RELAXED);
    return gone;
}

/* Unlinks removed nodes from the lists of children. */
static void unlink_removed(uint32_t root)
{
    for (uint32_t n = root; n; n = next_down(n, root)) {
        uint32_t *at = &probe_nodes[n].first_child;
        probe_nodes[n].count &= ~STORE_HELD;
        while (*at) {
            struct store_node *child = &probe_nodes[*at];
            if (child->function)
                at = &child->next_sibling;
            else
                *at = child->next_sibling;
        }
    }
}

static uint32_t take_and_remove(struct thread *thread, uint32_t keep,
                                uint64_t (*less)(struct thread *thread, uint32_t node, uint64_t has))
{
    hold_all(thread, keep);
    uint32_t gone = take_weights(thread, less);
    unlink_removed(thread->root);
    saved_stacks_reclaim();
    return gone;
}

static uint64_t lose_median(struct thread *thread, uint32_t node, uint64_t has)
{
    (void)thread;
    (void)node;
    return has < purged_median ? has : purged_median;
}

static uint64_t lose_nothing(struct thread *thread, uint32_t node, uint64_t has)
{
    (void)thread;
    (void)node;
    (void)has;
    return 0;
}

static void purge_tree(struct thread *thread)
{
    uint32_t count = core.recording.counter ? 0 : sample_weights(thread->root), gone = 0;
    if (core.recording.counter) {
        gone = take_and_remove(thread, 0, lose_nothing);
    } else if (count >= FEW_SAMPLES) {
        purged_median = select_u64(samples, count, count / 2);
        gone = take_and_remove(thread, 0, lose_median);
        __atomic_fetch_add(&core.header->bound, purged_median, __ATOMIC_RELAXED);
    }
    if (gone < thread->limit / 16)
        thread->limit += thread->limit / 4 + 1;
}

void purge_weights(struct thread *thread, uint32_t keep,
                   uint64_t (*less)(struct thread *thread, uint32_t node, uint64_t has))
{
    const uint64_t mask = core_lock();
    if (core.started && thread->root)
        take_and_remove(thread, keep, less);
    core_unlock(mask);
}

static bool is_due(const struct thread *thread)
{
    return thread->root && thread->made >= thread->limit && !(uint32_t)thread->removed;
}

void purge_if_due(struct thread *thread)
{
    if (!is_due(thread))
        return;
    const uint64_t mask = core_lock();
    if (core.started && is_due(thread))
        purge_tree(thread);
    core_unlock(mask);
}
