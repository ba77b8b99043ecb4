/* wall.h - the event "wall-clock" (wait_reason.h): of a recording with waits and a clock. */
#ifndef FATHOM_PERFDATA_WALL_H
#define FATHOM_PERFDATA_WALL_H

#include "perfdata/head.h"

struct wall {
    uint32_t event;        /* index, the last; UINT32_MAX: the recording has no such */
    uint32_t clock, waits; /* those that it is made of */
    bool reported;         /* where no event is named */
};

/* Adds it to the events. -ENOMEM. */
int wall_add(struct head *head, struct wall *out, struct fathom_error *err);
/* The event that a sample is of, where this one is reported. */
static inline uint32_t wall_event_of(const struct wall *wall, uint32_t event)
{
    return event == wall->clock || event == wall->waits ? wall->event : event;
}

#endif
