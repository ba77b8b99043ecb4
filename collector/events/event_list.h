/*
 * event_list.h - the events that can be sampled on this machine: those with a name that the kernel accepts.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_EVENT_LIST_H
#define FATHOM_COLLECTOR_EVENTS_EVENT_LIST_H

#include <stddef.h>

struct listed_event {
    const char *group; /* "software events", a CPU's name: events of a group follow one another */
    const char *name;  /* as -e takes it */
    const char *description;
};

/* Calls `see` for each: software events, perf's names for what most CPUs count, the CPU's own. Strings are
 * valid during the call. Tracepoints are not among them. */
void event_list(void (*see)(void *context, const struct listed_event *event), void *context);
/* How many tracepoints the kernel has; -1: tracefs cannot be read. */
long event_list_tracepoints(void);

#endif
