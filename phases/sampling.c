/* sampling.c - see sampling.h. */
#include "phases/sampling.h"

#include "base/hash.h"

/* the first random interval is among this many: around the third, so that it costs as much */
#define EARLY 3u

/* Which of a phase's next `share` intervals is profiled, 0 to share - 1. block: how many such groups came before. */
static uint32_t choose_interval(const struct phase_sampling *s, uint32_t phase, uint32_t block)
{
    const uint64_t random = hash_u64(s->seed ^ hash_u64((uint64_t)phase << 32 | block));
    switch (s->policy) {
    case PHASE_SAMPLING_THIRD:
        return block ? 0 : 2;
    case PHASE_SAMPLING_SECOND:
        return block ? 0 : 1;
    case PHASE_SAMPLING_RANDOM:
        return (uint32_t)(block ? random % s->share : 1 + random % EARLY);
    case PHASE_SAMPLING_PERIODIC:
        return s->share - 1;
    case PHASE_SAMPLING_CHANCE:
        return (uint32_t)(random % s->share);
    }
    return 0;
}

bool phase_sampling_by_phase(const struct phase_sampling *s)
{
    return s->policy < PHASE_SAMPLING_PERIODIC;
}

/* One interval does not represent a phase, but the mean of some that are spread over its time does. If one is missed because
 * another phase came than was predicted, a later one takes its place. */
bool phase_sampling_wants(const struct phase_sampling *s, uint32_t phase, const struct phase_tally *tally)
{
    const uint32_t block = tally->intervals / s->share, within = tally->intervals % s->share;
    return tally->profiled < block ||
           (tally->profiled == block && within >= choose_interval(s, phase, block));
}
