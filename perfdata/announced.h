/*
 * announced.h - joins stack records (stack_record.h) with their samples: which stack each sample has, according
 * to the program that followed it. Records must come in time order, with all forks and execs: a thread that has the
 * number of an earlier one, and a process with a new image, have no announcements yet.
 */
#ifndef FATHOM_PERFDATA_ANNOUNCED_H
#define FATHOM_PERFDATA_ANNOUNCED_H

#include "base/error.h"
#include "perfdata/record.h"
#include "perfdata/stack_record.h"

struct announced;
struct scripts;

/* Where a known stack that was read elsewhere is taken to lie (struct stack_placed). */
struct stack_places {
    uint64_t base;  /* of the stack */
    uint64_t depth; /* frames with less height are those that were compared */
    uint32_t count; /* of the addresses at which files' offsets 0 would lie */
    uint64_t at[STACK_PLACED_MAX];
};

/* events are borrowed. NULL: out of memory. */
struct announced *announced_new(const struct event *events, size_t count);
void announced_free(struct announced *announced);
/* Samples get what interpreters run by these, which are borrowed: scripts_restart() is called. */
void announced_use_scripts(struct announced *announced, struct scripts *scripts);
/* Only a sample with a record of its own tells where its stack lies (sample.placed), until the next call: else that would be memory for
 * nothing, over days. */
void announced_leave_places(struct announced *announced);
/* Fills in what is known of the stack of a sample of a followed event; its dump is borrowed from the stack record
 * before it, which must still be there. Returns 1: the record was a stack record, now taken; 0: any other; or
 * -ENOMEM. A damaged stack record is counted. */
int announced_take(struct announced *announced, struct record *record, struct fathom_error *err);
/* The sample with no more of its stack than the program read of a new one, where it has a copy of its own besides. */
struct sample announced_as_read(const struct sample *sample);
uint64_t announced_damaged(const struct announced *announced);
/* Stacks of which nothing is known but that they were new, as the record that they refer to is missing or damaged (walks.h). */
uint64_t announced_unresolved(const struct announced *announced);

#endif
