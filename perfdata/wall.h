/* wall.h - the event "wall-clock" (wait_reason.h): of a recording with waits and a clock. */
#ifndef FATHOM_PERFDATA_WALL_H
#define FATHOM_PERFDATA_WALL_H

#include "perfdata/record.h"

struct head;

struct wall {
    uint32_t event;        /* index; UINT32_MAX: the recording has no such */
    uint32_t clock, waits; /* those that it is made of */
    bool reported;         /* where no event is named */
};

/* The first of each of those that it would be made of. */
void wall_find(const struct event *events, size_t count, struct wall *out);
/* Adds it to the events. -ENOMEM. */
int wall_add(struct head *head, struct wall *out, struct fathom_error *err);
/* Whether its samples are those of this event. */
static inline bool wall_has(const struct wall *wall, uint32_t event)
{
    return wall->event != UINT32_MAX && (event == wall->clock || event == wall->waits);
}

#endif
