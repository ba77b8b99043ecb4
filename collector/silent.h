/*
 * silent.h - private to the collector: finds processes that used CPU time and have no sample. No report can
 * show them, so the user is told.
 */
#ifndef FATHOM_COLLECTOR_SILENT_H
#define FATHOM_COLLECTOR_SILENT_H

#include <stdbool.h>

#include "base/log.h"
#include "collector/cpu_use.h"
#include "perfdata/record.h"

struct table;

/* What was sampled. */
struct silent_view {
    const struct event *event;   /* the main one */
    const struct table *sampled; /* PIDs, or TIDs if threads are recorded */
    uint64_t lost;               /* samples */
};

/* Whether a process that used this much CPU time (ns) must have samples of the event, regardless of
 * chance. */
bool silent_cannot_be(const struct event *event, uint64_t used);
/* Writes a sentence about the silent processes; false: there are none. */
bool silent_tell(const struct silent_view *view, const struct cpu_uses *uses, enum log_level *level,
                 char *text, size_t size);

#endif
