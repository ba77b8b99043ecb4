/* shared_positions.c - see shared_positions.h. */
#include "infer/bases/shared_positions.h"

#include <errno.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#define FAR 65536u /* bytes: samples further below a stack are not on it, even if the map has their height */

int position_table_note(struct position_table *t, uint32_t owner, uint32_t function, uint64_t cfa,
                        uint64_t sp)
{
    const uint64_t words[] = {(uint64_t)owner << 32 | function, cfa}, key = checksum_of(words, sizeof words);
    if (t->count >= t->most && !table_find(t->index, key))
        return 0;
    const size_t index = table_index(t->index, key, t->at, t->count, t->capacity,
                                     (struct position){owner, function, cfa, sp, 0, false});
    if (index == SIZE_MAX)
        return -ENOMEM;
    t->at[index].samples++;
    if (sp < t->at[index].low)
        t->at[index].low = sp;
    return 0;
}

static int compare_positions(const void *a, const void *b)
{
    const struct position *x = a, *y = b;
    return order_of(x->owner, y->owner) ?: order_of(x->cfa, y->cfa) ?: order_of(x->function, y->function);
}

void position_table_sort(struct position_table *t)
{
    sort_with(t->at, t->count, compare_positions);
}

void position_table_clear(struct position_table *t)
{
    table_free(t->index);
    free(t->at);
}

size_t positions_above(const struct positions *g, uint64_t address)
{
    return lower_bound(i, 0, g->count, g->positions[i].cfa <= address);
}

/* Whether the map has the position's height below this base. */
static bool position_fits(const struct positions *g, const struct position *position, uint64_t base)
{
    const struct levels *levels = shared_levels_of(g->levels, position->function);
    for (uint32_t i = 0; levels && i < levels->count; i++) {
        if (position->cfa + levels->of[i].height == base)
            return true;
    }
    return false;
}

static void take_position(struct position *position, uint64_t *low)
{
    position->taken = true;
    if (position->low < *low)
        *low = position->low;
}

uint64_t positions_occupy(struct positions *g, uint64_t low, uint64_t base)
{
    size_t end = positions_above(g, base), i = end;
    while (i > 0 && g->positions[i - 1].cfa > low)
        take_position(&g->positions[--i], &low);
    while (i > 0) {
        struct position *position = &g->positions[--i];
        uint64_t below = position->cfa < low ? low - position->cfa : 0;
        if (position->taken || below > FAR)
            break;
        if (below <= POSITIONS_NEAR || position_fits(g, position, base))
            take_position(position, &low);
    }
    return low;
}
