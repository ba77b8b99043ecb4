/*
 * heap_live.h - the event "live" (heap_event.h): of a recording with what was allocated and what was freed, the allocations that were not.
 */
#ifndef FATHOM_PERFDATA_HEAP_LIVE_H
#define FATHOM_PERFDATA_HEAP_LIVE_H

#include "base/hash.h"
#include "perfdata/head.h"
#include "perfdata/record.h"

struct heap_live {
    uint32_t event;            /* index, the last; UINT32_MAX: the recording has no such */
    uint32_t allocated, freed; /* those that it is made of */
    uint64_t unknown;          /* allocations of which it is not told when they are freed */
    struct table
        *last; /* PID and address, hashed -> time of the allocation that was not freed; NULL: not read yet */
};

/* Adds it to the events. -ENOMEM. */
int heap_live_add(struct head *head, struct heap_live *out, struct fathom_error *err);
void heap_live_free(struct heap_live *live);
/* Every record, by time, before heap_live_has() is asked; event: the allocated one. -ENOMEM. */
int heap_live_see(struct heap_live *live, const struct event *event, const struct record *record,
                  struct fathom_error *err);
/* Whether the sample, of that event, is of an allocation that is not freed. */
bool heap_live_has(const struct heap_live *live, const struct event *event, const struct sample *sample);

#endif
