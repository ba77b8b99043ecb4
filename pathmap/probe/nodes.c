/*
 * nodes.c - the trees in the store: finding and adding children, only by their owner thread.
 *
 * A signal handler may interrupt any of this and search and add children itself. A child is put at the front
 * of its parent's list by one compare-and-exchange, after the rest of it was written. Only one entry at a
 * time reorders lists: a handler that interrupts it can follow every list to its end, but may miss the child
 * being moved, and then adds another one for the same path, which the reader adds up.
 *
 * A child found ENTRY_SIBLINGS deep or deeper moves to the front: otherwise, others that share its slot in
 * probe_edges would cause repeated searches for it.
 */
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define WIDE_STEPS 64 /* length of a list walk from which its node gets an index */

uint64_t probe_edges[1 << EDGE_BITS];

/* False if this entry interrupted one that is already reordering. One that a handler abandoned by longjmp is
 * recognised by its CFA: it cannot be active if this one is above it on the same stack. */
static bool may_order(const struct stack *stack, uint64_t cfa)
{
    const struct thread *thread = stack->thread;
    return !thread->ordering || (thread->ordering == stack && cfa >= thread->ordering_cfa);
}

static bool exchange_index(uint32_t *at, uint32_t expected, uint32_t value)
{
    bool done;
    __asm__ volatile("cmpxchgl %3, %1" : "=@ccz"(done), "+m"(*at), "+a"(expected) : "r"(value) : "memory");
    return done;
}

static void put_first(struct store_node *parent, uint32_t child)
{
    uint32_t first;
    do {
        first = *(volatile uint32_t *)&parent->first_child;
        probe_nodes[child].next_sibling = first;
        BARRIER();
    } while (!exchange_index(&parent->first_child, first, child));
}

static void move_to_front(struct stack *stack, uint64_t cfa, struct store_node *parent, uint32_t before,
                          uint32_t child)
{
    struct thread *thread = stack->thread;
    thread->ordering_cfa = cfa;
    BARRIER();
    thread->ordering = stack;
    BARRIER();
    /* From here on handlers only add at the front; one may have reordered before. */
    if (probe_nodes[before].next_sibling == child) {
        *(volatile uint32_t *)&probe_nodes[before].next_sibling = probe_nodes[child].next_sibling;
        BARRIER();
        put_first(parent, child);
    }
    BARRIER();
    thread->ordering = NULL;
}

static bool is_child(uint32_t n, uint32_t parent, uint32_t function, uint32_t height, uint32_t site)
{
    const struct store_node *node = probe_nodes + n;
    return node->function == function && node->height == height && node->site == site &&
           node->parent == parent;
}

static void put_edge(uint64_t edge, uint32_t child)
{
    *(volatile uint64_t *)&probe_edges[edge >> (64 - EDGE_BITS)] = (uint64_t)child << 32 | (uint32_t)edge;
}

/* 0: not found, but it may still be a child. */
static uint32_t find_edge(uint64_t edge)
{
    uint64_t found = *(volatile uint64_t *)&probe_edges[edge >> (64 - EDGE_BITS)];
    return (uint32_t)found == (uint32_t)edge ? (uint32_t)(found >> 32) : 0;
}

void nodes_forget(void)
{
    raw_fill(probe_edges, 0, sizeof probe_edges);
    wide_forget();
}

/* Indexes a node's many children, so that they are found without a walk from now on. */
static void index_children(uint32_t parent)
{
    for (uint32_t n = probe_nodes[parent].first_child; n;
         n = *(const volatile uint32_t *)&probe_nodes[n].next_sibling) {
        const struct store_node *node = probe_nodes + n;
        if (!wide_put(edge_of(parent, node->function, node->height, node->site), n))
            return;
    }
    wide_mark(probe_nodes + parent);
}

static uint32_t find_indexed(uint64_t edge, uint32_t parent, uint32_t function, uint32_t height,
                             uint32_t site)
{
    struct wide_cursor cursor = {0};
    uint32_t n;
    while ((n = wide_find(edge, &cursor)) && !is_child(n, parent, function, height, site))
        ;
    if (n)
        put_edge(edge, n);
    return n;
}

uint32_t node_find(struct stack *stack, uint64_t cfa, uint32_t parent, uint32_t function, uint32_t height,
                   uint32_t site)
{
    uint64_t edge = edge_of(parent, function, height, site);
    uint32_t before = 0, depth = 0, known = find_edge(edge);
    if (is_child(known, parent, function, height, site))
        return known;
    if (wide_has(probe_nodes + parent))
        return find_indexed(edge, parent, function, height, site);
    for (uint32_t n = probe_nodes[parent].first_child; n; depth++) {
        const struct store_node *node = probe_nodes + n;
        if (is_child(n, parent, function, height, site)) {
            put_edge(edge, n);
            if (depth >= ENTRY_SIBLINGS && may_order(stack, cfa))
                move_to_front(stack, cfa, probe_nodes + parent, before, n);
            return n;
        }
        before = n;
        n = *(const volatile uint32_t *)&node->next_sibling;
    }
    if (depth >= WIDE_STEPS)
        index_children(parent);
    return 0;
}

static bool exchange_long(uint64_t *at, uint64_t expected, uint64_t value)
{
    bool done;
    __asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(done), "+m"(*at), "+a"(expected) : "r"(value) : "memory");
    return done;
}

/* A removed node to use again; 0: none. */
static uint32_t take_removed(struct thread *thread)
{
    for (;;) {
        uint64_t removed = *(volatile uint64_t *)&thread->removed;
        uint32_t n = (uint32_t)removed;
        if (!n)
            return 0;
        uint32_t next = *(volatile uint32_t *)&probe_nodes[n].first_child;
        if (exchange_long(&thread->removed, removed, ((removed >> 32) + 1) << 32 | next)) {
            probe_nodes[n].first_child = 0;
            probe_nodes[n].count = 0;
            return n;
        }
    }
}

static uint32_t take_node(struct thread *thread)
{
    uint32_t removed = take_removed(thread);
    if (removed)
        return removed;
    for (;;) {
        uint64_t nodes = *(volatile uint64_t *)&thread->nodes, next;
        uint32_t n = (uint32_t)nodes;
        if (n >= nodes >> 32) {
            uint32_t first = store_chunk();
            if (first == STORE_NO_CHUNK)
                return 0;
            n = first ? first : 1; /* node 0 does not exist */
            next = ((uint64_t)(first + STORE_CHUNK_NODES) << 32) | (n + 1);
        } else {
            next = nodes + 1;
        }
        if (exchange_long(&thread->nodes, nodes, next)) {
            thread->made++;
            return n;
        }
    }
}

uint32_t node_make(struct thread *thread, uint32_t parent, uint32_t function, uint32_t height, uint32_t site)
{
    uint32_t n = take_node(thread);
    if (!n)
        return 0;
    struct store_node *node = probe_nodes + n;
    node->parent = parent;
    node->height = height;
    node->site = site;
    BARRIER();
    *(volatile uint32_t *)&node->function = function;
    if (parent) {
        uint64_t edge = edge_of(parent, function, height, site);
        put_first(probe_nodes + parent, n);
        put_edge(edge, n);
        if (wide_has(probe_nodes + parent))
            wide_put(edge, n);
    }
    return n;
}

void nodes_adopt(struct stack *stack, struct thread *thread, const struct store_node *old)
{
    struct frame *frames = stack->frames;
    frames[0].node = thread->root;
    for (struct frame *f = frames + 1; f <= stack->top; f++) {
        const struct store_node was = old[f->node];
        uint32_t parent = f[-1].node, n = 0;
        if (f->node && parent) {
            n = node_find(stack, stack->base - f->height, parent, was.function, was.height, was.site);
            if (!n)
                n = node_make(thread, parent, was.function, was.height, was.site);
        }
        f->node = n;
    }
}
