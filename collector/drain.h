/*
 * drain.h - takes the records out of the rings: watches them for what the collector must know, cuts stack
 * dumps, and passes them on.
 */
#ifndef FATHOM_COLLECTOR_DRAIN_H
#define FATHOM_COLLECTOR_DRAIN_H

#include "collector/counters.h"
#include "collector/stackbase.h"

struct drain {
    struct counters *counters; /* borrowed, as all here */
    const struct event *events;
    size_t event_count;
    struct stackbases *bases;
    struct sideband *to;
    struct collector_summary *summary;
};

/* Drains every ring once, up to where it is now, and closes with a FINISHED_ROUND when there was anything
 * (*any, unless NULL). Flushes the batch. */
int drain_round(const struct drain *drain, bool *any, struct fathom_error *err);

#endif
