/*
 * announced.h - joins stack records (stack_record.h) with their samples: which stack each sample has, according to the BPF
 * program that followed it. Records must come in time order, including all forks and execs: a thread that reuses a TID, and a
 * process with a new image, have no announcements yet.
 */
#ifndef FATHOM_PERFDATA_ANNOUNCED_H
#define FATHOM_PERFDATA_ANNOUNCED_H

#include "base/error.h"
#include "perfdata/record.h"
#include "perfdata/stack_record.h"

struct announced;
struct scripts;

/* Where the files of a known stack that was read elsewhere are supposed to be (struct stack_placed). */
struct stack_places {
    uint64_t base;  /* of the stack */
    uint64_t depth; /* only frames whose height is less were compared */
    uint32_t count; /* number of addresses of files' offsets 0 */
    uint64_t at[STACK_PLACED_MAX];
};

/* events are borrowed. NULL: out of memory. */
struct announced *announced_new(const struct event *events, size_t count);
void announced_free(struct announced *announced);
/* Sets where samples get the functions that interpreters run; borrowed, and restarted: scripts_restart(). */
void announced_use_scripts(struct announced *announced, struct scripts *scripts);
/* From now on only a sample with a record of its own has the places of its stack (sample.placed), until the next call: storing
 * them for later samples would waste memory over days. */
void announced_leave_places(struct announced *announced);
/* Sets what is known about the stack of a sample of a followed event; its dump is borrowed from the stack record before it,
 * which must still be there. Returns 1: the record was a stack record, and was taken; 0: any other; or -ENOMEM. Damaged stack
 * records are counted. */
int announced_take(struct announced *announced, struct record *record, struct fathom_error *err);
/* The sample with only the part of a new stack that the BPF program read, if it also has a copy of its own. */
struct sample announced_as_read(const struct sample *sample);
uint64_t announced_damaged(const struct announced *announced);
/* Number of stacks of which only the fact that they were new is known, as the record that they refer to is missing or damaged
 * (walks.h). */
uint64_t announced_unresolved(const struct announced *announced);

#endif
