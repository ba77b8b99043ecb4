/*
 * walk_sink.h - passes on a collector's records, with new stacks as the frames that the learner found (perfdata/walks.h) in the
 * place of their bytes.
 *
 * A stack record with a copy, and its sample, wait until the stack was walked; meanwhile marks of rounds are left out, so that
 * readers sort further. One that was not walked in WAIT_NS, or of which there is no room to wait, is passed on as it came. So is a
 * copy whose walk ended before the root, up to KEPT_BYTES and then KEPT_RATE bytes a second; one in KEPT_EVERY others has both.
 * The first record that announces a kept stack waits likewise, for KEPT_NS at most, and becomes one of a new stack with its frames.
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
/* A sample's stack was walked so, and its record is to have this number. Called by the learner's thread. Up to FOUND_MAX frames are taken between calls of walk_sink_add(): 17 MB,
 * twice. */
void walk_sink_walked(struct walk_sink *sink, const struct sample *sample, uint32_t number,
                      const struct unwind_frame *frames, size_t count, enum unwind_end end);
/* Calls untold() with the number of a kept stack that a record announces which was passed on as it came: what it is cannot be told by a later
 * record of another place. */
void walk_sink_untold(struct walk_sink *sink, void (*untold)(void *context, uint32_t number), void *context);
/* Whether the frames of this kept stack (infer/live/stack_keeper.h) were not written yet. Likewise. */
bool walk_sink_wants(struct walk_sink *sink, uint32_t number);
/* As a collector_sink. looked: the number of calls whose records the learner has handled; what still waits from these was not walked. */
int walk_sink_add(struct walk_sink *sink, uint64_t looked, const void *records, size_t size,
                  struct fathom_error *err);
/* How many walks that ended before the root were passed on without the copy. */
uint64_t walk_sink_left_out(const struct walk_sink *sink);
/* Passes on all that waits. Call it when nothing is walked any more. */
int walk_sink_finish(struct walk_sink *sink, struct fathom_error *err);

#endif
