/*
 * heap_made.h - the events "live" and "peak" (heap_event.h): of a recording with what was allocated and what was freed, the allocations that were not, and
 * those that were alive when their process had most: each process has its own moment, as in massif and heaptrack, and is another
 * one when it executes another program.
 */
#ifndef FATHOM_PERFDATA_HEAP_MADE_H
#define FATHOM_PERFDATA_HEAP_MADE_H

#include "base/hash.h"
#include "perfdata/head.h"
#include "perfdata/record.h"

struct heap_object;
struct heap_process;

struct heap_made {
    uint32_t live; /* index, that of the peak is the next; UINT32_MAX: the recording has no such */
    uint32_t allocated, freed; /* those that they are made of */
    uint64_t unknown;          /* allocations of which it is not told when they are freed */
    struct heap_object *objects;
    uint32_t object_count, object_capacity;
    struct heap_process *processes;
    uint32_t process_count, process_capacity;
    struct table *running; /* PID -> index of its process */
    struct table *last;    /* PID and address, hashed -> index of the object that was not freed */
    struct table *all; /* PID, address and time, hashed -> index of the object; NULL: nothing was read yet */
};

/* Adds them to the events. -ENOMEM. */
int heap_made_add(struct head *head, struct heap_made *out, struct fathom_error *err);
void heap_made_free(struct heap_made *made);
/* Every record, by time, before heap_made_of() is asked; event: the allocated one. -ENOMEM. */
int heap_made_see(struct heap_made *made, const struct event *event, const struct record *record,
                  struct fathom_error *err);
/* Which of them the sample is of: 1 live, 2 peak; event: as above. */
unsigned heap_made_of(const struct heap_made *made, const struct event *event, const struct sample *sample);

#endif
