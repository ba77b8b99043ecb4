/*
 * learning.h - passes on a collector's records and learns from them what the collector is to do next: which stacks
 * its BPF program knows from now on or, without one, how often its clocks read stacks.
 */
#ifndef FATHOM_API_RECORD_LEARNING_H
#define FATHOM_API_RECORD_LEARNING_H

#include "collector/collector.h"

struct learning;

/* next, with its context, receives the records. cache: what earlier recordings kept of stacks is used; only with walks: new stacks as the frames that were found in them (walk_sink.h).
 * options: the collector's; their log, to which it is told if learning fails, is borrowed. Where the collector neither follows an
 * event nor has clocks whose rate can be set, records are only passed on. collector is borrowed. */
int learning_new(struct collector *collector, const struct collector_options *options, bool walks, bool cache,
                 collector_sink *next, void *context, struct learning **out, struct fathom_error *err);
/* Before the collector is closed. NULL is allowed. */
void learning_free(struct learning *learning);
collector_sink learning_add; /* context: the struct learning */
/* Passes on what no longer has to wait, though no records come. */
int learning_flush(struct learning *learning, struct fathom_error *err);
/* Passes on what waits, and ends learning. Call it after the last record. */
int learning_finish(struct learning *learning, struct fathom_error *err);
/* After that: keeps what was learned of stacks for later recordings. notes: how much; NULL: nobody wants to know. */
void learning_keep(const struct learning *learning, const struct log *notes);
/* Likewise: the files that were opened to learn (image_cache_settle()); NULL: none. Not for the caller to free. */
struct image_cache *learning_images(struct learning *learning);

#endif
