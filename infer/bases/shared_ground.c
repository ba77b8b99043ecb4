/* shared_ground.c - see shared_ground.h. */
#include "infer/bases/shared_ground.h"

#include "base/search.h"

#define FAR 65536u /* bytes: samples further below a stack are not on it, even if their height is known */

size_t ground_above(const struct ground *g, uint64_t address)
{
    return lower_bound(i, 0, g->count, g->spots[i].cfa <= address);
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
