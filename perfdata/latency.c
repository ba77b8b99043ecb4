/* latency.c - see latency.h. */
#include "perfdata/latency.h"

int latency_begin(struct latency *latency, const struct event *events, size_t count, struct fathom_error *err)
{
    *latency = (struct latency){.entered = UINT32_MAX, .left = UINT32_MAX};
    for (uint32_t i = (uint32_t)count;
         i-- > 0;) { /* for several functions the decoder gives the first one's index */
        const enum latency_event of = latency_event_of(&events[i].attr);
        if (of == LATENCY_ENTERED)
            latency->entered = i;
        else if (of == LATENCY_LEFT)
            latency->left = i;
    }
    if (latency->entered == UINT32_MAX || latency->left == UINT32_MAX)
        return 0;
    latency->open = table_new();
    return latency->open ? 0 : error_memory(err);
}

void latency_end(struct latency *latency)
{
    table_free(latency->open);
    latency->open = NULL;
}

int latency_take(struct latency *latency, struct sample *sample, struct fathom_error *err)
{
    if (!latency->open || (sample->event != latency->entered && sample->event != latency->left))
        return 0;
    const uint64_t key = hash_u64(sample->sp + hash_u64(sample->pid));
    if (sample->event == latency->entered) {
        bool added;
        uint64_t *time = table_put(latency->open, key, &added);
        if (!time)
            return error_memory(err);
        *time = sample->time;
        latency->abandoned += !added;
        return 0;
    }
    const uint64_t *time = table_find(latency->open, key);
    if (!time) {
        sample->event = latency->entered;
        return 0;
    }
    sample->period = sample->time > *time ? sample->time - *time : 0;
    table_remove(latency->open, key);
    return 0;
}

uint64_t latency_unended(const struct latency *latency)
{
    return latency->abandoned + (latency->open ? table_count(latency->open) : 0);
}
