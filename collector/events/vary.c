/* vary.c - see vary.h. */
#include "collector/events/vary.h"

#include "base/hash.h"
#include "perfdata/record.h"

#define LEAST 64 /* below, a sixteenth is less than 4 events */
#define PART  16

bool vary_is(const struct perf_event_attr *attr)
{
    return !attr->freq && attr->sample_period >= LEAST && !attr_is_clock(attr) &&
           !(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY);
}

static uint64_t any_near(const struct perf_event_attr *attr, uint64_t *state)
{
    uint64_t range = attr->sample_period / PART;
    return attr->sample_period - range + hash_random(state) % (2 * range + 1);
}

uint64_t vary_period(const struct perf_event_attr *attr, uint64_t *state)
{
    uint64_t period = any_near(attr, state);
    return attr->type > PERF_TYPE_BREAKPOINT ? period & ~UINT64_C(15) : period;
}

static bool has_small_factor(uint64_t period)
{
    for (uint64_t factor = 2; factor < 100; factor++)
        if (period % factor == 0 && period != factor)
            return true;
    return false;
}

uint64_t vary_once(const struct perf_event_attr *attr, uint64_t *state)
{
    uint64_t period = any_near(attr, state);
    for (unsigned i = 0; i < 100 && has_small_factor(period); i++)
        period++;
    return period;
}
