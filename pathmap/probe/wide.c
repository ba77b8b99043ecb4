/*
 * wide.c - an exact index of the children of nodes with many children, instead of a walk through their list.
 *
 * A loop that calls thousands of functions, each from several places, makes a node with as many children: in cc1,
 * the 3% of searches that find no child cost 92% of the steps along the lists. After a long walk, nodes.c adds
 * all present and future children of the node here, and marks it (STORE_WIDE): a child that is not here does not
 * exist.
 *
 * Hash tables with open addressing, each twice as large as the previous one and started when that is three
 * quarters full. Nothing is moved; slots of removed children are reused. A slot, and the place of a table, is
 * claimed by one compare-and-exchange, so threads and signal handlers do not disturb each other. If a handler
 * adds a child, or moves one to the front, while its node is being marked, one may be missed; it is then added a
 * second time, and the reader adds them up.
 */
#include "base/raw.h"
#include "pathmap/probe/state.h"

#define FIRST_BITS  16
#define TABLES      15
#define STALE_STEPS 8 /* slots per table that are searched for a stale one */

static struct table {
    uint64_t *slots; /* as in probe_edges: the child's number above the lower half of its edge; 0: free */
    uint32_t used;
} tables[TABLES];
static bool failed; /* no memory for another table: some children may be missing */

static uint64_t slots_of(const struct table *table)
{
    return 1ull << (FIRST_BITS + (table - tables));
}

/* The table to add children to; NULL: no room. */
static struct table *last_table(void)
{
    for (struct table *table = tables; table < tables + TABLES; table++) {
        if (!__atomic_load_n(&table->slots, __ATOMIC_ACQUIRE)) {
            uint64_t size = slots_of(table) * sizeof *table->slots, *none = NULL;
            long p =
                raw_mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
            if (raw_failed(p))
                return NULL;
            if (!__atomic_compare_exchange_n(&table->slots, &none, (uint64_t *)p, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE))
                raw_munmap((void *)p, size);
        }
        if (__atomic_load_n(&table->used, __ATOMIC_RELAXED) < slots_of(table) / 4 * 3)
            return table;
    }
    return NULL;
}

bool wide_has(const struct store_node *parent)
{
    return (*(const volatile uint64_t *)&parent->count & STORE_WIDE) && !failed;
}

/* Whether a slot's child was removed, or its number now belongs to another child. */
static bool is_stale(uint64_t slot)
{
    const struct store_node *node = &probe_nodes[slot >> 32];
    return !node->function ||
           (uint32_t)edge_of(node->parent, node->function, node->height, node->site) != (uint32_t)slot;
}

/* Reuses the slot of a removed child (purge.c), so that tables do not grow for ever. */
static bool replace_stale(uint64_t edge, uint32_t child)
{
    for (struct table *table = tables; table < tables + TABLES; table++) {
        uint64_t *slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE), last = slots_of(table) - 1;
        for (uint64_t i = 0; slots && i < STALE_STEPS; i++) {
            uint64_t *at = &slots[((edge >> 32) + i) & last], slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
            if (!slot)
                break;
            if (is_stale(slot) &&
                __atomic_compare_exchange_n(at, &slot, (uint64_t)child << 32 | (uint32_t)edge, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
                return true;
        }
    }
    return false;
}

bool wide_put(uint64_t edge, uint32_t child)
{
    if (core.recording.node_limit && !failed && replace_stale(edge, child))
        return true;
    struct table *table = failed ? NULL : last_table();
    if (!table) {
        failed = true;
        return false;
    }
    uint64_t last = slots_of(table) - 1, at = edge >> 32 & last, free = 0;
    while (!__atomic_compare_exchange_n(&table->slots[at], &free, (uint64_t)child << 32 | (uint32_t)edge,
                                        false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        free = 0;
        at = (at + 1) & last;
    }
    __atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED);
    return true;
}

uint32_t wide_find(uint64_t edge, struct wide_cursor *cursor)
{
    for (; cursor->table < TABLES; cursor->table++, cursor->steps = 0) {
        const struct table *table = &tables[cursor->table];
        const uint64_t *slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE);
        if (!slots)
            return 0;
        uint64_t last = slots_of(table) - 1, slot;
        while ((slot = __atomic_load_n(&slots[((edge >> 32) + cursor->steps) & last], __ATOMIC_ACQUIRE))) {
            cursor->steps++;
            if ((uint32_t)slot == (uint32_t)edge)
                return (uint32_t)(slot >> 32);
        }
    }
    return 0;
}

void wide_mark(struct store_node *parent)
{
    /* A single instruction, as entries are being counted in the same word. */
    __asm__ volatile("orq %1, %0" : "+m"(parent->count) : "r"(STORE_WIDE));
}

void wide_forget(void)
{
    /* Emptied in place: a handler that interrupted a search in them may have forked. */
    for (struct table *table = tables; table < tables + TABLES && table->slots; table++) {
        raw_call(SYS_madvise, (long)table->slots, (long)(slots_of(table) * sizeof *table->slots),
                 MADV_DONTNEED, 0, 0, 0);
        table->used = 0;
    }
    failed = false;
}
