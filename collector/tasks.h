/*
 * tasks.h - keeps up, as threads and processes start and end, who is recorded and whose stacks are compared.
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
    pid_t expected;          /* a process that becomes a member at its exec; 0: none */
    bool no_children;        /* processes that members start are none */
    struct table
        *started; /* owned: TID -> when it started, perf's clock, ns; the latest that uses the number */
    struct table *births;  /* owned: TID -> verify_birth() of the same */
    struct table *bases;   /* owned: TID -> the base that verify_base() took */
    struct task_end *ends; /* owned: those that the program is still to be told of, in order */
    size_t end_count, end_capacity;
};

/* 0 or -ENOMEM. */
int tasks_init(struct tasks *tasks, struct fathom_error *err);

/* Makes members of what a record says has started. To be asked of all records of a round before
 * its samples are passed on, as a sample may be of a process whose start is in another ring; and of each only once:
 * asked again after the process's end, it would stay a member for ever. */
int tasks_look_ahead(struct tasks *tasks, const struct perf_event_header *record, struct fathom_error *err);
/* Takes a FORK or EXIT record. An EXIT that is older than the latest start of its number is of an earlier user of that, and ends
 * nothing: rings are emptied one after the other. */
int tasks_take(struct tasks *tasks, const struct fork_record *task, struct fathom_error *err);
/* A sample's thread has its stack up to this base. 0 or -ENOMEM. */
int tasks_base(struct tasks *tasks, pid_t tid, uint64_t base, struct fathom_error *err);
/* At the end of a round. What ended in it was one of us until now: another ring may have had its start, or samples. */
void tasks_round(struct tasks *tasks);
void tasks_free(struct tasks *tasks);

#endif
