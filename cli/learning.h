/*
 * learning.h - passes on a collector's records, and learns the stacks among them that its BPF program found new,
 * so that the program knows them from then on.
 */
#ifndef FATHOM_CLI_LEARNING_H
#define FATHOM_CLI_LEARNING_H

#include "collector/collector.h"
#include "infer/live/stack_learner.h"

struct learning;

/* next, with its context, receives the records. Without a program that follows the event, they are only passed
 * on. collector is borrowed. */
int learning_new(struct collector *collector, collector_sink *next, void *context, struct learning **out,
                 struct fathom_error *err);
/* Before the collector is closed. NULL is allowed. */
void learning_free(struct learning *learning);
collector_sink learning_add; /* context: the struct learning */

#endif
