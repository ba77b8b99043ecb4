/* wall.h - the event "wall-clock" (wait_reason.h), made if a recording has waits and a clock. */
#ifndef FATHOM_PERFDATA_WALL_H
#define FATHOM_PERFDATA_WALL_H

#include "perfdata/record.h"

struct head;

struct wall {
    uint32_t event;        /* index; UINT32_MAX: the recording has none */
    uint32_t clock, waits; /* indices of the events that it is made from */
    bool reported;         /* it is reported if no event is named */
};

/* Finds the first of each kind of event that it can be made from. */
void wall_find(const struct event *events, size_t count, struct wall *out);
/* Adds it to the events. -ENOMEM. */
int wall_add(struct head *head, struct wall *out, struct fathom_error *err);
/* Whether its samples are those of this event. */
static inline bool wall_has(const struct wall *wall, uint32_t event)
{
    return wall->event != UINT32_MAX && (event == wall->clock || event == wall->waits);
}

#endif
