/* wall.c - see wall.h. */
#include "perfdata/wall.h"

#include <stdio.h>

#include "base/vec.h"
#include "perfdata/head.h"

static bool is_sampled_clock(const struct event *event)
{
    return attr_is_clock(&event->attr) && !attr_is_waits(&event->attr) && !event->audit && !event->stacks &&
           (event->attr.freq || event->attr.sample_period);
}

void wall_find(const struct event *events, size_t count, struct wall *out)
{
    *out = (struct wall){UINT32_MAX, UINT32_MAX, UINT32_MAX, false};
    for (uint32_t i = (uint32_t)count; i-- > 0;) {
        if (is_sampled_clock(&events[i]))
            out->clock = i;
        else if (attr_is_waits(&events[i].attr))
            out->waits = i;
    }
}

int wall_add(struct head *head, struct wall *out, struct fathom_error *err)
{
    wall_find(head->events, head->count, out);
    if (out->clock == UINT32_MAX || out->waits == UINT32_MAX)
        return 0;
    struct event event = {.attr = head->events[out->waits].attr};
    out->reported = event.attr.config2 == EVENT_WALL_REPORTED;
    event.attr.config2 = EVENT_WALL_MARK;
    const struct perf_event_attr *clock =
        &head->events[out->clock].attr; /* it has the functions of the kernel */
    event.attr.exclude_kernel = clock->exclude_kernel;
    event.attr.exclude_callchain_kernel = clock->exclude_callchain_kernel;
    event.attr.sample_type |= clock->sample_type & PERF_SAMPLE_CALLCHAIN;
    snprintf(event.name, sizeof event.name, EVENT_WALL_NAME);
    out->event = (uint32_t)head->count;
    return vec_push(head->events, head->count, head->capacity, event) ? 0 : error_memory(err);
}
