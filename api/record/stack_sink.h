/*
 * stack_sink.h - passes on a collector's records, and replaces stack records by samples with stacks that other tools can unwind
 * (perfdata/stack_sample.h). Stack records that are damaged, have no stack, or whose sample was lost, are not replaced.
 */
#ifndef FATHOM_API_RECORD_STACK_SINK_H
#define FATHOM_API_RECORD_STACK_SINK_H

#include "collector/rings/batch.h"
#include "perfdata/record.h"

struct stack_sink;

/* events: borrowed; they include one of stack records. */
int stack_sink_new(const struct event *events, size_t count, struct stack_sink **out,
                   struct fathom_error *err);
void stack_sink_free(struct stack_sink *sink);
/* The events of the records that it passes on; owned by the sink. Returns their number. */
size_t stack_sink_events(const struct stack_sink *sink, const struct event **events);
/* Sets who receives the records. Call it before the first one. */
void stack_sink_to(struct stack_sink *sink, collector_sink *next, void *context);
collector_sink stack_sink_add; /* context: the struct stack_sink */
/* Passes on stack records that wait for their samples. Call it at the end of the recording. */
int stack_sink_finish(struct stack_sink *sink, struct fathom_error *err);

#endif
