/*
 * learning.h - passes on a collector's records, and learns from them to control the collector: which stacks its BPF
 * program knows from now on or, without one, how often its clocks read stacks.
 */
#ifndef FATHOM_API_RECORD_LEARNING_H
#define FATHOM_API_RECORD_LEARNING_H

#include "collector/collector.h"

struct learning;

/* next, with its context, receives the records. walks: pass on new stacks as the frames found in them (walk_sink.h). cache: use stacks
 * that earlier recordings stored; only with walks. options: the collector's; their log, which reports failures of learning, is borrowed.
 * If the collector neither follows an event nor has clocks with adjustable rates, records are only passed on. collector is borrowed. */
int learning_new(struct collector *collector, const struct collector_options *options, bool walks, bool cache,
                 collector_sink *next, void *context, struct learning **out, struct fathom_error *err);
/* Call it before the collector is closed. NULL is allowed. */
void learning_free(struct learning *learning);
collector_sink learning_add; /* context: the struct learning */
/* Passes on records that need not wait any longer, if no new records come. */
int learning_flush(struct learning *learning, struct fathom_error *err);
/* Passes on waiting records, and ends learning. Call it after the last record. */
int learning_finish(struct learning *learning, struct fathom_error *err);
/* After learning_finish(): stores the learned stacks for later recordings. notes: gets their number; may be NULL. */
void learning_keep(const struct learning *learning, const struct log *notes);
/* After learning_finish(): the files opened for learning (image_cache_settle()), owned by `learning`; NULL: none. */
struct image_cache *learning_images(struct learning *learning);

#endif
