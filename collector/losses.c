/* losses.c - see losses.h. */
#include "collector/losses.h"

uint64_t losses_take(struct losses *l, const struct verify *verify, uint64_t lost)
{
    if (verify) {
        struct verify_counts counts;
        verify_counts(verify, &counts);
        uint64_t stacks = counts.unwritten - l->stacks;
        if (stacks > lost)
            stacks = lost;
        l->stacks += stacks;
        lost -= stacks;
    }
    l->told += lost;
    return lost;
}

uint64_t losses_untold(struct losses *l, const struct counters *counters, const struct verify *verify)
{
    uint64_t lost = counters_lost(counters);
    if (verify) {
        struct verify_counts counts;
        verify_counts(verify, &counts);
        lost = (lost > counts.unwritten ? lost - counts.unwritten : l->told) + counts.lost;
    }
    if (lost <= l->told)
        return 0;
    uint64_t untold = lost - l->told;
    l->told = lost;
    return untold;
}
