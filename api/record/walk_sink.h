/*
 * walk_sink.h - passes on a collector's records, with the bytes of new stacks replaced by the frames that the learner found
 * (perfdata/walks.h).
 *
 * A stack record with a copy, and its sample, wait until the stack was walked; meanwhile marks of rounds are left out, so that
 * readers sort over a longer time. A record that was not walked in WAIT_NS, or does not fit into the queue, is passed on unchanged. So
 * is a copy whose walk ended before the root, up to KEPT_BYTES and then KEPT_RATE bytes a second; one in KEPT_EVERY others has both.
 * The first record that announces a kept stack also waits, at most KEPT_NS, and becomes a record of a new stack with its frames.
 */
#ifndef FATHOM_API_RECORD_WALK_SINK_H
#define FATHOM_API_RECORD_WALK_SINK_H

#include "collector/rings/batch.h"
#include "perfdata/record.h"
#include "process/unwind.h"

struct walk_sink;

/* events: those of the records, borrowed. next, with its context, receives the records. */
int walk_sink_new(const struct event *events, size_t count, collector_sink *next, void *context,
                  struct walk_sink **out, struct fathom_error *err);
void walk_sink_free(struct walk_sink *sink);
/* sink: a struct walk_sink, as in walk_sink_wants(). Reports the result of walking a sample's stack, and the number for its record. Called by the learner's thread. At most FOUND_MAX frames
 * are taken between calls of walk_sink_add(): 17 MB, twice. */
void walk_sink_walked(void *sink, const struct sample *sample, uint32_t number,
                      const struct unwind_frame *frames, size_t count, enum unwind_end end);
/* Makes the sink call untold() with the number of a kept stack when a record that announces it is passed on unchanged: a later record from
 * another place cannot describe that stack. */
void walk_sink_untold(struct walk_sink *sink, void (*untold)(void *context, uint32_t number), void *context);
/* Whether the frames of this kept stack (infer/live/stack_keeper.h) are still to be written. Called by the learner's thread. */
bool walk_sink_wants(void *sink, uint32_t number);
/* Like a collector_sink. looked: the number of calls whose records the learner has handled; records of these that still wait were not
 * walked. */
int walk_sink_add(struct walk_sink *sink, uint64_t looked, const void *records, size_t size,
                  struct fathom_error *err);
/* The number of walks that ended before the root and were passed on without the copy. */
uint64_t walk_sink_left_out(const struct walk_sink *sink);
/* Passes on all waiting records. Call it when no more stacks are walked. */
int walk_sink_finish(struct walk_sink *sink, struct fathom_error *err);

#endif
