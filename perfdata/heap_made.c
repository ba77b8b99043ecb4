/* heap_made.c - see heap_made.h. */
#include "perfdata/heap_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/heap_event.h"

struct heap_object {
    uint64_t time, freed; /* freed: UINT64_MAX if it never was */
    uint64_t weight;      /* bytes */
    uint32_t process;
};

struct heap_process {
    uint64_t bytes, most; /* alive now, and at the peak */
    uint64_t peak;        /* time of the peak */
};

static int add_event(struct head *head, const char *name, enum heap_event kind, uint32_t of,
                     struct fathom_error *err)
{
    struct event event = {.attr = head->events[of].attr};
    heap_event_set(&event.attr, kind, 0);
    snprintf(event.name, sizeof event.name, "%s", name);
    return vec_push(head->events, head->count, head->capacity, event) ? 0 : error_memory(err);
}

int heap_made_add(struct head *head, struct heap_made *out, struct fathom_error *err)
{
    *out = (struct heap_made){.live = UINT32_MAX, .allocated = UINT32_MAX, .freed = UINT32_MAX};
    for (uint32_t i = (uint32_t)head->count; i-- > 0;) {
        const enum heap_event kind = heap_event_of(&head->events[i].attr);
        if (kind == HEAP_ALLOCATED)
            out->allocated = i;
        else if (kind == HEAP_FREED)
            out->freed = i;
    }
    if (out->allocated == UINT32_MAX || out->freed == UINT32_MAX)
        return 0;
    out->live = (uint32_t)head->count;
    const int rc = add_event(head, "live", HEAP_LIVE, out->allocated, err);
    return rc == 0 ? add_event(head, "peak", HEAP_PEAK, out->allocated, err) : rc;
}

void heap_made_free(struct heap_made *made)
{
    free(made->objects);
    free(made->processes);
    table_free(made->running);
    table_free(made->last);
    table_free(made->all);
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

static uint64_t key_at(const struct sample *sample, uint64_t address)
{
    return hash_u64(key_of(sample, address) + sample->time);
}

static int begin_process(struct heap_made *made, uint32_t pid, struct fathom_error *err)
{
    if (!table_set(made->running, pid, made->process_count))
        return error_memory(err);
    return vec_push(made->processes, made->process_count, made->process_capacity, (struct heap_process){0})
               ? 0
               : error_memory(err);
}

static void end_object(struct heap_made *made, uint64_t index, uint64_t time)
{
    struct heap_object *object = &made->objects[index];
    object->freed = time;
    made->processes[object->process].bytes -= object->weight;
}

static int begin_object(struct heap_made *made, const struct sample *sample, uint64_t address,
                        struct fathom_error *err)
{
    int rc = table_find(made->running, sample->pid) ? 0 : begin_process(made, sample->pid, err);
    if (rc < 0)
        return rc;
    const struct heap_object object = {sample->time, UINT64_MAX, sample->period,
                                       (uint32_t)*table_find(made->running, sample->pid)};
    bool added;
    uint64_t *last = table_put(made->last, key_of(sample, address), &added),
             *all = table_put(made->all, key_at(sample, address), NULL);
    if (!last || !all)
        return error_memory(err);
    if (!added) /* the record of its end was lost, or the process executed another program */
        end_object(made, *last, sample->time);
    *last = *all = made->object_count;
    if (!vec_push(made->objects, made->object_count, made->object_capacity, object))
        return error_memory(err);
    struct heap_process *process = &made->processes[object.process];
    process->bytes += object.weight;
    if (process->bytes > process->most) {
        process->most = process->bytes;
        process->peak = sample->time;
    }
    return 0;
}

static int see_sample(struct heap_made *made, const struct event *event, const struct sample *sample,
                      struct fathom_error *err)
{
    if (sample->event != made->allocated && sample->event != made->freed)
        return 0;
    const uint64_t address = address_of(event, sample);
    made->unknown += !address && sample->event == made->allocated;
    if (!address)
        return 0;
    if (sample->event == made->allocated)
        return begin_object(made, sample, address, err);
    const uint64_t *last = table_find(made->last, key_of(sample, address));
    if (last) {
        end_object(made, *last, sample->time);
        table_remove(made->last, key_of(sample, address));
    }
    return 0;
}

int heap_made_see(struct heap_made *made, const struct event *event, const struct record *record,
                  struct fathom_error *err)
{
    if (!made->all &&
        !((made->running = table_new()) && (made->last = table_new()) && (made->all = table_new())))
        return error_memory(err);
    if (record->kind == RECORD_SAMPLE)
        return see_sample(made, event, &record->sample, err);
    const bool begins = (record->kind == RECORD_FORK && record->pid != record->fork.parent_pid) ||
                        (record->kind == RECORD_COMM && record->comm.exec);
    return begins ? begin_process(made, record->pid, err) : 0;
}

unsigned heap_made_of(const struct heap_made *made, const struct event *event, const struct sample *sample)
{
    const uint64_t address = made->all ? address_of(event, sample) : 0,
                   *index = address ? table_find(made->all, key_at(sample, address)) : NULL;
    if (!index)
        return 0;
    const struct heap_object *object = &made->objects[*index];
    const uint64_t peak = made->processes[object->process].peak;
    return (object->freed == UINT64_MAX ? 1u : 0) | (object->time <= peak && object->freed > peak ? 2u : 0);
}
