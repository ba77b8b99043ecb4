/*
 * tasks.h - tracks, as threads and processes start and end, who is recorded and whose stacks are compared.
 */
#ifndef FATHOM_COLLECTOR_TASKS_H
#define FATHOM_COLLECTOR_TASKS_H

#include "base/error.h"
#include "collector/rings/records.h"
#include "collector/targets/members.h"
#include "collector/verify/verify.h"

struct task_end;

struct tasks {
    struct members *members; /* borrowed; NULL: no event is open by CPU */
    struct verify *verify;   /* borrowed; NULL: stacks are not compared */
    pid_t expected;          /* a process that becomes a member at exec; 0: none */
    bool no_children;        /* child processes of members are not members */
    struct table
        /* owned: TID -> time of its latest start, perf's clock, ns */
        *started;
    struct table *births;  /* owned: TID -> verify_birth() of the same start */
    struct table *bases;   /* owned: TID -> the stack base passed to verify_base() */
    struct task_end *ends; /* owned, in order: ends to be passed on to the BPF program */
    size_t end_count, end_capacity;
};

/* 0 or -ENOMEM. */
int tasks_init(struct tasks *tasks, struct fathom_error *err);

/* Makes members of the threads and processes that a record starts. To be called for all records of a round
 * before its samples are passed on, as a process's start may be in another ring than its samples; and once
 * per record: called again after the process's end, it would make a member that never ends. */
int tasks_look_ahead(struct tasks *tasks, const struct perf_event_header *record, struct fathom_error *err);
/* Takes a FORK or EXIT record. An EXIT older than the latest start of its TID belongs to an earlier thread
 * with the same number and is ignored: rings are drained one after the other. */
int tasks_take(struct tasks *tasks, const struct fork_record *task, struct fathom_error *err);
/* Notes that the stack of a sample's thread ends at this base. 0 or -ENOMEM. */
int tasks_base(struct tasks *tasks, pid_t tid, uint64_t base, struct fathom_error *err);
/* At the end of a round: handles the ends seen in it. They are delayed as another ring may have had the
 * start, or samples. */
void tasks_round(struct tasks *tasks);
void tasks_free(struct tasks *tasks);

#endif
