/*
 * drain.h - takes the records out of the rings: watches them for what the collector must know, cuts stack
 * dumps, and passes them on.
 */
#ifndef FATHOM_COLLECTOR_DRAIN_H
#define FATHOM_COLLECTOR_DRAIN_H

#include "collector/counters.h"
#include "collector/members.h"
#include "collector/stackbase.h"

struct start; /* a fork or exec of the current round */

/* Samples like one before, which go on as they are: nothing can be learned from them in this round. */
struct drain_plain {
    uint64_t id;
    uint32_t pid, tid;
    size_t size; /* of the record; 0: no sample is plain */
    uint64_t *count;
};

struct drain {
    struct counters *counters; /* borrowed, as all up to `summary` */
    const struct event *events;
    size_t event_count;
    struct stackbases *bases;
    struct sideband *to;
    struct collector_summary *summary;
    struct members *members; /* NULL: no event is open by CPU */
    pid_t expected;          /* a process that is no member before its exec; 0: none */
    struct start *starts;    /* owned */
    size_t start_count, start_room;
    struct drain_plain plain;
    uint64_t told; /* records whose loss the rings' LOST records told */
};

/* Drains every ring once, up to where it is now, and closes with a FINISHED_ROUND when there was anything
 * (*any, unless NULL). Flushes the batch. drain->start_count: threads and programs that started. */
int drain_round(struct drain *drain, bool *any, struct fathom_error *err);
/* After the last round: the losses that no LOST record told, as one LOST_SAMPLES record. A ring that was full
 * at the end has such. */
int drain_losses(struct drain *drain, struct fathom_error *err);
/* Tells what the main event counted, after the last drain. */
int drain_totals(struct drain *drain, struct fathom_error *err);
void drain_free(struct drain *drain);

#endif
