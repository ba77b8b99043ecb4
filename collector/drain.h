/*
 * drain.h - takes the records out of the rings, notes what the collector needs from them, trims stack dumps,
 * and passes the records on.
 */
#ifndef FATHOM_COLLECTOR_DRAIN_H
#define FATHOM_COLLECTOR_DRAIN_H

#include "collector/collector.h"
#include "collector/losses.h"
#include "collector/rings/counters.h"
#include "collector/targets/moved_text.h"
#include "collector/targets/stackbase.h"
#include "collector/targets/synth.h"
#include "collector/tasks.h"

struct start; /* a fork or exec of the current round */

/* Samples equal to an earlier one of this round in these members: nothing new can be learned from them, so
 * they are passed on without decoding. */
struct drain_plain {
    uint64_t id;
    uint32_t pid, tid;
    size_t size; /* of the record; 0: no sample is plain */
    uint64_t *count;
    uint32_t event;
};

struct drain {
    struct counters *counters; /* borrowed, like everything down to `summary` */
    const struct decoder *decoder;
    const struct event *events;
    size_t event_count;
    size_t asked; /* number of requested events; they come first */
    struct stackbases *bases;
    struct sideband *to;
    struct waits *waits; /* NULL: none are recorded */
    struct collector_summary *summary;
    struct start *starts; /* owned */
    size_t start_count, start_capacity;
    struct drain_plain plain;
    uint64_t stack_time;              /* time to set in a stack record, ns; 0: keep its own */
    uint64_t taken[COLLECTOR_EVENTS]; /* samples, by event */
    struct tasks tasks;
    struct losses losses;
    struct moved_texts moved;
    pid_t self; /* our PID if all other processes are recorded; 0: only members are */
    /* Members are the processes that already have records about them; others may be recorded, too. */
    bool meets;
    struct table *unmet; /* owned: PIDs of others that had ended before records about them could be written */
    enum synth_mappings mappings; /* which mappings are recorded of processes that already run */
    bool by_tid;                  /* threads are recorded, rather than processes */
    struct table *sampled;        /* owned: the PIDs or TIDs that have samples */
    uint32_t last_sampled;
};

/* Initialises the remaining members after the caller set the borrowed ones. 0 or -ENOMEM. */
int drain_init(struct drain *drain, struct fathom_error *err);

/* Unless it is a member: writes the records of a process that already runs and makes it a member. It is not
 * an error if it has ended. */
int drain_meet(struct drain *drain, pid_t pid, struct fathom_error *err);
/* Drains every ring once, up to where its head is now, and adds a FINISHED_ROUND if there was anything (*any,
 * unless NULL). Flushes the batch. drain->start_count: threads and programs that started. */
int drain_round(struct drain *drain, bool *any, struct fathom_error *err);
/* If waits are recorded: writes those in progress. finish: after the last round, or before any
 * (waits_tell()). */
int drain_waits(struct drain *drain, bool finish, struct fathom_error *err);
/* After the last round: writes one LOST_SAMPLES record for losses without a LOST record, for example those of
 * a ring that was full at the end. */
int drain_losses(struct drain *drain, struct fathom_error *err);
/* After the last round: writes READ records with the count of each requested event, and with the time that
 * the task event was enabled: the CPU time of what is recorded. */
int drain_totals(struct drain *drain, struct fathom_error *err);
void drain_free(struct drain *drain);

#endif
