/*
 * heap_made.h - the events "live" and "peak" (heap_event.h): if a recording has what was allocated and what was freed, the
 * allocations that were not freed, and those that were alive when their process had most. Each process has its own moment, as
 * in massif and heaptrack, and counts as another one after it executes another program.
 */
#ifndef FATHOM_PERFDATA_HEAP_MADE_H
#define FATHOM_PERFDATA_HEAP_MADE_H

#include "base/hash.h"
#include "perfdata/head.h"
#include "perfdata/record.h"

struct heap_object;
struct heap_process;

struct heap_made {
    uint32_t live;             /* index of "live", "peak" is the next; UINT32_MAX: the recording has none */
    uint32_t allocated, freed; /* indices of the events that they are made from */
    uint64_t unknown;          /* allocations whose free is not recorded */
    struct heap_object *objects;
    uint32_t object_count, object_capacity;
    struct heap_process *processes;
    uint32_t process_count, process_capacity;
    struct table *running; /* PID -> index of its process */
    struct table *last;    /* hash of PID and address -> index of the object that was not freed */
    struct table *all; /* hash of PID, address and time -> index of the object; NULL: nothing was read yet */
};

/* Adds both to the events. -ENOMEM. */
int heap_made_add(struct head *head, struct heap_made *out, struct fathom_error *err);
void heap_made_free(struct heap_made *made);
/* Takes every record, in time order, before heap_made_of() is called; event: the allocated one. -ENOMEM. */
int heap_made_see(struct heap_made *made, const struct event *event, const struct record *record,
                  struct fathom_error *err);
/* Which of the two the sample belongs to: bits 1 live, 2 peak; event: as above. */
unsigned heap_made_of(const struct heap_made *made, const struct event *event, const struct sample *sample);

#endif
