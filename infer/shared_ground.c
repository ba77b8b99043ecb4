/* shared_ground.c - see shared_ground.h. */
#include "infer/shared_ground.h"

#define FAR 65536u /* bytes: a sample further below a stack is not on it, even if its height is known */

size_t ground_above(const struct ground *g, uint64_t address)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->spots[middle].cfa > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether the map knows the spot's height below this base. */
static bool fits(const struct ground *g, const struct spot *spot, uint64_t base)
{
    const struct levels *levels = shared_levels_of(g->levels, spot->function);
    for (uint32_t i = 0; levels && i < levels->count; i++) {
        if (spot->cfa + levels->of[i].height == base)
            return true;
    }
    return false;
}

static void take(struct spot *spot, uint64_t *low)
{
    spot->taken = true;
    if (spot->low < *low)
        *low = spot->low;
}

uint64_t ground_occupy(struct ground *g, uint64_t low, uint64_t base)
{
    size_t end = ground_above(g, base), i = end;
    while (i > 0 && g->spots[i - 1].cfa > low)
        take(&g->spots[--i], &low);
    while (i > 0) {
        struct spot *spot = &g->spots[--i];
        uint64_t below = spot->cfa < low ? low - spot->cfa : 0;
        if (spot->taken || below > FAR)
            break;
        if (below <= GROUND_NEAR || fits(g, spot, base))
            take(spot, &low);
    }
    return low;
}
