/*
 * event_list.h - the events that can be sampled on this machine: those with names, as far as the kernel
 * accepts them.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_EVENT_LIST_H
#define FATHOM_COLLECTOR_EVENTS_EVENT_LIST_H

#include <stddef.h>

struct listed_event {
    const char *group; /* "software events", a CPU's name: events of a group are consecutive */
    const char *name;  /* as -e takes it */
    const char *description;
};

/* Calls `see` for each: software events, perf's names for what most CPUs count, the CPU's own. Strings are
 * valid only during the call. Tracepoints are not listed. */
void event_list(void (*see)(void *context, const struct listed_event *event), void *context);
/* How many tracepoints the kernel has; -1: tracefs cannot be read. */
long event_list_tracepoints(void);

#endif
