/* heap_live.c - see heap_live.h. */
#include "perfdata/heap_live.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/heap_event.h"

#define LIVE_NAME "live"

int heap_live_add(struct head *head, struct heap_live *out, struct fathom_error *err)
{
    *out = (struct heap_live){UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, NULL};
    for (uint32_t i = (uint32_t)head->count; i-- > 0;) {
        const enum heap_event kind = heap_event_of(&head->events[i].attr);
        if (kind == HEAP_ALLOCATED)
            out->allocated = i;
        else if (kind == HEAP_FREED)
            out->freed = i;
    }
    if (out->allocated == UINT32_MAX || out->freed == UINT32_MAX)
        return 0;
    struct event event = {.attr = head->events[out->allocated].attr};
    heap_event_set(&event.attr, HEAP_LIVE);
    snprintf(event.name, sizeof event.name, LIVE_NAME);
    out->event = (uint32_t)head->count;
    return vec_push(head->events, head->count, head->capacity, event) ? 0 : error_memory(err);
}

void heap_live_free(struct heap_live *live)
{
    table_free(live->last);
    live->last = NULL;
}

static uint64_t address_of(const struct event *event, const struct sample *sample)
{
    const struct weight_field weight = weight_field_of(&event->attr);
    return heap_field_of(&weight, sample, HEAP_ADDRESS);
}

static uint64_t key_of(const struct sample *sample, uint64_t address)
{
    return hash_u64(address + hash_u64(sample->pid));
}

int heap_live_see(struct heap_live *live, const struct event *event, const struct record *record,
                  struct fathom_error *err)
{
    const struct sample *sample = &record->sample;
    if (!live->last && !(live->last = table_new()))
        return error_memory(err);
    if (record->kind != RECORD_SAMPLE || (sample->event != live->allocated && sample->event != live->freed))
        return 0;
    const uint64_t address = address_of(event, sample);
    live->unknown += !address && sample->event == live->allocated;
    if (!address)
        return 0;
    if (sample->event == live->freed) {
        table_remove(live->last, key_of(sample, address));
        return 0;
    }
    uint64_t *time = table_put(live->last, key_of(sample, address), NULL);
    if (!time)
        return error_memory(err);
    *time = sample->time;
    return 0;
}

bool heap_live_has(const struct heap_live *live, const struct event *event, const struct sample *sample)
{
    const uint64_t address = address_of(event, sample);
    const uint64_t *time = address && live->last ? table_find(live->last, key_of(sample, address)) : NULL;
    return time && *time == sample->time;
}
