/*
 * waits.h - makes samples of the times in which threads are off CPU: one at the end of each wait that the BPF
 * program reports (verify_wire.h), with its duration and its reason (perfdata/wait_reason.h). Their event
 * exists in the collector only; the kernel opens none. A wait that stands for others weighs as much as all of
 * them together. The time in which a thread was runnable is a sample of its own. If wakers are requested, who
 * ended a wait is a sample of a second event, with the waker's stack.
 */
#ifndef FATHOM_COLLECTOR_WAITS_H
#define FATHOM_COLLECTOR_WAITS_H

#include "collector/rings/batch.h"
#include "collector/verify/verify.h"
#include "perfdata/record.h"

struct waits;

struct waits_options {
    uint64_t id, wakers_id; /* of the events to make; wakers_id 0: waits only */
    uint64_t stacks_id;     /* of the event that carries stack records */
    unsigned compared;      /* as in struct stack_record */
    bool wall;              /* report "wall-clock" (wait_reason.h) */
};

/* Fills in one event, or two: waits, and wakers. *out: NULL on failure. -ENOMEM; errors of
 * clock_pair_read(). */
int waits_new(const struct waits_options *options, struct event *events, struct waits **out,
              struct fathom_error *err);
void waits_free(struct waits *waits); /* NULL is allowed; the events' ids are not freed */
/* Takes a record of the stack event. 1: it was about a wait and must not be passed on; *made: number of
 * samples written. 0: it was not about a wait. Negative: -ENOMEM, or an error of the sink. */
int waits_take(struct waits *waits, const struct sample *sample, struct batch *batch, unsigned *made,
               struct fathom_error *err);
/* Notes that a stack record of this thread was written with this time; time 0: that another record was. If
 * the next record is the beginning of a wait, the stack belongs to that wait. */
void waits_note_stack(struct waits *waits, uint32_t tid, uint64_t time);
/* A thread of a process that already runs may be waiting: writes its stack, for the sample at the end of that
 * wait. */
int waits_attach(struct waits *waits, struct verify *verify, pid_t pid, pid_t tid, struct batch *batch,
                 struct fathom_error *err);
/* The events are on from now on; or were on until now. Only the part of a wait between the two counts. */
void waits_begin(struct waits *waits);
void waits_end(struct waits *waits);
/* Writes samples of the waits in progress, for the part not reported yet, at most twice a second. *made: as
 * above. */
int waits_tell(struct waits *waits, const struct verify *verify, struct batch *batch, unsigned *made,
               struct fathom_error *err);
/* At the end: writes samples of the waits in progress. *made: as above. */
int waits_finish(struct waits *waits, const struct verify *verify, struct batch *batch, unsigned *made,
                 struct fathom_error *err);

#endif
