/*
 * event_list.h - the events that can be sampled on this machine: those with names, as far as the kernel
 * accepts them.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_EVENT_LIST_H
#define FATHOM_COLLECTOR_EVENTS_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/events/pmus.h"

struct listed_event {
    const char *group; /* "aliases", "software events", a CPU's name: events of a group are consecutive */
    const char *name;  /* as -e takes it */
    const char *description;
    /* an alias: the event on this CPU, with that of the slow cores behind a comma; NULL: none */
    const char *stands_for;
    const char *precise; /* modifiers for the highest level: "pp"; "": not precise */
    unsigned bytes;      /* of a sample's record; 0: unknown, as it cannot be sampled */
    bool address, latency,
        source;   /* what records contain about the data; some have the address only with --data */
    bool batched; /* large PEBS, with a fixed period */
};

/* Calls `see` for each: aliases, software events, AMD's IBS, perf's names for what most CPUs count, the CPU's own.
 * Strings are valid only during the call. Tracepoints are not listed. */
void event_list(const struct pmus *pmus, void (*see)(void *context, const struct listed_event *event),
                void *context);
/* Calls `see` for each tracepoint's name, "SYSTEM:NAME", and returns how many the kernel has; -1: tracefs cannot be read.
 * see may be NULL. */
long event_list_tracepoints(void (*see)(void *context, const char *name), void *context);

#endif
