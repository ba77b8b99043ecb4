/* tasks.c - see tasks.h. */
#include "collector/tasks.h"

#include <stdlib.h>

#include "base/vec.h"

/* A thread's end, for the program that compares stacks. */
struct task_end {
    pid_t tid, id; /* id: as which it was followed */
    bool followed; /* still: its process goes on */
};

static bool follow(struct tasks *t, pid_t pid, pid_t tid)
{
    if (t->verify)
        verify_follow(t->verify, members_id(t->members, pid, tid), true);
    return true;
}

int tasks_look_ahead(struct tasks *t, const struct perf_event_header *record, struct fathom_error *err)
{
    struct fork_record fork;
    struct comm_record comm;
    bool good = true;
    if (record->type == PERF_RECORD_FORK && record_view(record, record->size, &fork, sizeof fork))
        good = members_start(t->members, (pid_t)fork.pid, (pid_t)fork.tid) &&
               follow(t, (pid_t)fork.pid, (pid_t)fork.tid);
    else if (record->type == PERF_RECORD_COMM && record->misc & PERF_RECORD_MISC_COMM_EXEC &&
             record_view(record, record->size, &comm, sizeof comm) && (pid_t)comm.pid == t->expected)
        good = members_add(t->members, (pid_t)comm.pid, (pid_t)comm.tid) &&
               follow(t, (pid_t)comm.pid, (pid_t)comm.tid);
    return good ? 0 : error_memory(err);
}

/* What is recorded is followed by its threads, or by CPU as a member. */
static int take_exit(struct tasks *t, pid_t pid, pid_t tid, struct fathom_error *err)
{
    struct task_end end = {.tid = tid, .id = t->members ? members_id(t->members, pid, tid) : tid};
    end.followed = t->members && !members_end(t->members, pid, tid);
    if (!t->verify)
        return 0;
    return vec_push(t->ends, t->end_count, t->end_room, end) ? 0 : error_memory(err);
}

int tasks_take(struct tasks *t, const struct fork_record *task, struct fathom_error *err)
{
    if (task->header.type == PERF_RECORD_EXIT)
        return take_exit(t, (pid_t)task->pid, (pid_t)task->tid, err);
    if (t->verify && !t->members)
        verify_follow(t->verify, (pid_t)task->tid, true);
    return 0;
}

void tasks_round(struct tasks *t)
{
    for (size_t i = 0; i < t->end_count; i++) {
        const struct task_end *end = &t->ends[i];
        verify_base(t->verify, end->tid, 0);
        if (!end->followed)
            verify_follow(t->verify, end->id, false);
    }
    t->end_count = 0;
    if (t->members)
        members_round(t->members);
}

void tasks_free(struct tasks *t)
{
    free(t->ends);
    *t = (struct tasks){0};
}
