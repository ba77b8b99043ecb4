/* code_past.c - see code_past.h. */
#include "image/made/code_past.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

#define STEPS_MOST 4096u /* per look-up: more than code is really replaced at one address */

static uint64_t end_of(const struct code_names_past *item)
{
    uint64_t end;
    return __builtin_add_overflow(item->address, item->size, &end) ? UINT64_MAX : end;
}

/* Computes a range's reach. The recursion's depth is the logarithm of the count. */
static uint64_t measure_reach(struct code_past *p, uint32_t low, uint32_t high)
{
    if (low == high)
        return 0;
    const uint32_t middle = low + (high - low) / 2;
    const uint64_t left = measure_reach(p, low, middle), right = measure_reach(p, middle + 1, high),
                   own = end_of(&p->items[middle]), both = left > right ? left : right;
    return p->reach[middle] = own > both ? own : both;
}

bool code_past_make(struct code_past *p, const struct code_names_past *items, uint32_t count)
{
    *p = (struct code_past){.items = items, .count = count};
    if (!count)
        return true;
    p->reach = malloc(count * sizeof *p->reach);
    p->changes = malloc(count * sizeof *p->changes);
    if (!p->reach || !p->changes)
        return false;
    measure_reach(p, 0, count);
    for (uint32_t i = 0; i < count; i++)
        p->changes[i] = items[i].until;
    sort_u64(p->changes, count);
    return true;
}

void code_past_clear(struct code_past *p)
{
    free(p->reach);
    free(p->changes);
    *p = (struct code_past){.items = NULL};
}

struct search {
    const struct code_past *past;
    uint64_t pc, time;
    uint32_t steps;
    const struct code_names_past *best; /* of the pieces replaced after the time, the one replaced first */
};

static void search_range(struct search *l, uint32_t low, uint32_t high)
{
    while (low < high && l->steps) {
        const uint32_t middle = low + (high - low) / 2;
        const struct code_names_past *item = &l->past->items[middle];
        l->steps--;
        if (l->past->reach[middle] <= l->pc)
            return;
        search_range(l, low, middle);
        if (item->address > l->pc)
            return;
        if (l->pc < end_of(item) && l->time < item->until && (!l->best || item->until < l->best->until))
            l->best = item;
        low = middle + 1;
    }
}

const struct code_names_past *code_past_at(const struct code_past *p, uint64_t pc, uint64_t time)
{
    struct search l = {.past = p, .pc = pc, .time = time, .steps = STEPS_MOST};
    search_range(&l, 0, p->count);
    return l.steps ? l.best : NULL;
}

uint64_t code_past_change(const struct code_past *p, uint64_t time)
{
    const uint32_t next = lower_bound(i, 0u, p->count, p->changes[i] <= time);
    return next < p->count ? p->changes[next] : UINT64_MAX;
}
