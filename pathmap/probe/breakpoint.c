/*
 * breakpoint.c - see breakpoint.h.
 */
#include "pathmap/probe/breakpoint.h"

#include <stddef.h>

#include "base/search.h"

static struct breakpoint_table *tables; /* of this process; grows at the head */

void breakpoint_switch(struct breakpoint_table *table, bool on)
{
    __atomic_store_n(&table->on, on, __ATOMIC_RELEASE);
    if (!on || table->published)
        return;
    table->published = true;
    table->next = tables;
    __atomic_store_n(&tables, table, __ATOMIC_RELEASE);
}

static uint64_t find_in(const struct breakpoint_table *table, uint64_t address)
{
    uint32_t first = lower_bound(i, 0, table->count, table->entries[i].address < address);
    bool found = first < table->count && table->entries[first].address == address;
    return found ? table->entries[first].trampoline : 0;
}

uint64_t breakpoint_find(uint64_t address)
{
    const struct breakpoint_table *table = __atomic_load_n(&tables, __ATOMIC_ACQUIRE);
    for (; table; table = table->next) {
        uint64_t to = __atomic_load_n(&table->on, __ATOMIC_ACQUIRE) ? find_in(table, address) : 0;
        if (to)
            return to;
    }
    return 0;
}
