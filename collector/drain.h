/*
 * drain.h - takes the records out of the rings: watches them for what the collector must know, cuts stack
 * dumps, and passes them on.
 */
#ifndef FATHOM_COLLECTOR_DRAIN_H
#define FATHOM_COLLECTOR_DRAIN_H

#include "collector/counters.h"
#include "collector/stackbase.h"

struct start; /* a fork or exec of the current round */

struct drain {
    struct counters *counters; /* borrowed, as all up to `summary` */
    const struct event *events;
    size_t event_count;
    struct stackbases *bases;
    struct sideband *to;
    struct collector_summary *summary;
    struct start *starts; /* owned */
    size_t start_count, start_room;
    uint64_t told; /* records whose loss the rings' LOST records told */
};

/* Drains every ring once, up to where it is now, and closes with a FINISHED_ROUND when there was anything
 * (*any, unless NULL). Flushes the batch. drain->start_count: threads and programs that started. */
int drain_round(struct drain *drain, bool *any, struct fathom_error *err);
/* After the last round: the losses that no LOST record told, as one LOST_SAMPLES record. A ring that was full
 * at the end has such. */
int drain_losses(struct drain *drain, struct fathom_error *err);
void drain_free(struct drain *drain);

#endif
