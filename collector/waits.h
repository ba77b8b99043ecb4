/*
 * waits.h - makes samples of the times in which threads have no CPU: one for each wait that the BPF program tells of (verify_wire.h), when it ends, of the time that it took,
 * with its reason (perfdata/wait_reason.h). Only the collector has their event: the kernel opens none for it. A wait that stands for others weighs as much as all of them. The time in
 * which a thread could run already is a sample of its own. Who ended a wait, if that is asked for, is one of a second event, of the waker's path.
 */
#ifndef FATHOM_COLLECTOR_WAITS_H
#define FATHOM_COLLECTOR_WAITS_H

#include "collector/rings/batch.h"
#include "collector/verify/verify.h"
#include "perfdata/record.h"

struct waits;

struct waits_options {
    uint64_t id, wakers_id; /* of the events to make; wakers_id 0: that of waits alone */
    uint64_t stacks_id;     /* of the event of stacks */
    unsigned compared;      /* as in struct stack_record */
    bool wall;              /* "wall-clock" is to be reported (wait_reason.h) */
};

/* Fills in one event, or two: waits, and who ended them. *out: NULL on failure. -ENOMEM; errors of clock_pair_read(). */
int waits_new(const struct waits_options *options, struct event *events, struct waits **out,
              struct fathom_error *err);
void waits_free(struct waits *waits); /* NULL is allowed; not the event's ids */
/* Takes a record of the event of stacks. 1: it was about a wait, and is to be left out; *made: samples that were written; 0: it was not. -ENOMEM, or of the sink. */
int waits_take(struct waits *waits, const struct sample *sample, struct batch *batch, unsigned *made,
               struct fathom_error *err);
/* A stack record, of this thread, was written with this time; 0: another record was. If what comes next is the beginning of a wait, it is that one's. */
void waits_note_stack(struct waits *waits, uint32_t tid, uint64_t time);
/* A thread of a process that runs already may wait: writes its stack, for the sample when that wait ends. */
int waits_attach(struct waits *waits, struct verify *verify, pid_t pid, pid_t tid, struct batch *batch,
                 struct fathom_error *err);
/* The events are on from now on; or were until now. Of a wait what lies between these counts. */
void waits_begin(struct waits *waits);
void waits_end(struct waits *waits);
/* Meanwhile: of the waits that last, of each what was not told yet, at most twice a second. *made: as above. */
int waits_tell(struct waits *waits, const struct verify *verify, struct batch *batch, unsigned *made,
               struct fathom_error *err);
/* At the end: of the waits that last. *made: as above. */
int waits_finish(struct waits *waits, const struct verify *verify, struct batch *batch, unsigned *made,
                 struct fathom_error *err);

#endif
