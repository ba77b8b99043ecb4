/*
 * silent.h - private to the collector: processes that used CPU time and have no sample, which a report cannot show and must
 * not be lost without a word.
 */
#ifndef FATHOM_COLLECTOR_SILENT_H
#define FATHOM_COLLECTOR_SILENT_H

#include <stdbool.h>

#include "base/log.h"
#include "collector/cpu_use.h"
#include "perfdata/record.h"

struct table;

/* What the samples are of. */
struct silent_view {
    const struct event *event;   /* the main one */
    const struct table *sampled; /* PIDs, or TIDs if threads are recorded */
    uint64_t lost;               /* samples */
};

/* Whether so much CPU time that the event counts (ns) has samples, whatever the chance. */
bool silent_cannot_be(const struct event *event, uint64_t used);
/* The sentence about those of the processes that are silent; false: none is. */
bool silent_tell(const struct silent_view *view, const struct cpu_uses *uses, enum log_level *level,
                 char *text, size_t size);

#endif
