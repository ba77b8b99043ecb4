/* tasks.c - see tasks.h. */
#include "collector/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"

/* A thread's end, to be passed on to the BPF program. */
struct task_end {
    pid_t tid, id;  /* id: its number in the map `followed` */
    bool followed;  /* its process continues */
    uint64_t birth; /* verify_birth() */
    uint64_t since; /* when its record was read, CLOCK_MONOTONIC, ns */
};

/* After the record of its end a thread frees its memory, which can take long, waits, and wakes its parent
 * (kernel/exit.c). */
#define LINGERS_NS UINT64_C(500000000)

int tasks_init(struct tasks *t, struct fathom_error *err)
{
    t->started = table_new();
    t->births = table_new();
    t->bases = table_new();
    return t->started && t->births && t->bases ? 0 : error_memory(err);
}

static uint64_t number_of(const struct table *table, pid_t tid)
{
    const uint64_t *number = table_find(table, (uint32_t)tid);
    return number ? *number : 0;
}

/* Notes the latest user of a TID. */
static bool note_start(struct tasks *t, const struct fork_record *fork)
{
    uint64_t *started = table_put(t->started, fork->tid, NULL);
    if (started && *started < fork->time)
        *started = fork->time;
    table_remove(t->bases, fork->tid);
    return started &&
           (!t->verify || table_set(t->births, fork->tid, verify_birth(t->verify, (pid_t)fork->tid)));
}

/* noted: whether it became a member. Returns the same. */
static bool follow_task(struct tasks *t, bool noted, pid_t pid, pid_t tid)
{
    if (noted && t->verify && t->members)
        verify_follow(t->verify, members_id(t->members, pid, tid), true);
    return noted;
}

static bool start_task(struct tasks *t, const struct fork_record *fork)
{
    const pid_t pid = (pid_t)fork->pid, tid = (pid_t)fork->tid;
    return follow_task(t, !t->members || members_start(t->members, pid, tid), pid, tid);
}

int tasks_look_ahead(struct tasks *t, const struct perf_event_header *record, struct fathom_error *err)
{
    struct fork_record fork;
    struct comm_record comm;
    bool good = true;
    if (record->type == PERF_RECORD_FORK && record_view(record, record->size, &fork, sizeof fork))
        good = note_start(t, &fork) && ((t->no_children && fork.pid != fork.ppid) || start_task(t, &fork));
    else if (t->members && record->type == PERF_RECORD_COMM && record->misc & PERF_RECORD_MISC_COMM_EXEC &&
             record_view(record, record->size, &comm, sizeof comm) && (pid_t)comm.pid == t->expected)
        good = follow_task(t, members_add(t->members, (pid_t)comm.pid, (pid_t)comm.tid), (pid_t)comm.pid,
                           (pid_t)comm.tid);
    return good ? 0 : error_memory(err);
}

/* Recorded tasks are followed by thread, or, if by CPU, as members. */
static int take_exit(struct tasks *t, const struct fork_record *task, struct fathom_error *err)
{
    const pid_t pid = (pid_t)task->pid, tid = (pid_t)task->tid;
    struct task_end end = {.tid = tid,
                           .id = t->members ? members_id(t->members, pid, tid) : tid,
                           .birth = number_of(t->births, tid),
                           .since = clock_ns()};
    if (task->time < number_of(t->started, tid))
        return 0;
    table_remove(t->started, (uint32_t)tid);
    table_remove(t->births, (uint32_t)tid);
    table_remove(t->bases, (uint32_t)tid);
    end.followed = t->members && !members_end(t->members, pid, tid);
    if (!t->verify)
        return 0;
    return vec_push(t->ends, t->end_count, t->end_capacity, end) ? 0 : error_memory(err);
}

int tasks_take(struct tasks *t, const struct fork_record *task, struct fathom_error *err)
{
    if (task->header.type == PERF_RECORD_EXIT)
        return take_exit(t, task, err);
    if (t->verify && !t->members)
        verify_follow(t->verify, (pid_t)task->tid, true);
    return 0;
}

/* Passed on once: a map lookup at each sample would cost more than all other work on a sample. */
int tasks_base(struct tasks *t, pid_t tid, uint64_t base, struct fathom_error *err)
{
    if (!t->verify || number_of(t->bases, tid) == base || !verify_base(t->verify, tid, base))
        return 0;
    return table_set(t->bases, (uint32_t)tid, base) ? 0 : error_memory(err);
}

void tasks_round(struct tasks *t)
{
    const uint64_t now = clock_ns();
    size_t told = 0;
    for (; told < t->end_count && now - t->ends[told].since >= LINGERS_NS; told++) {
        const struct task_end *end = &t->ends[told];
        uint64_t birth = verify_birth(t->verify, end->tid);
        if (birth && birth != end->birth)
            continue; /* another thread uses the TID already, and its start was not read yet */
        verify_end(t->verify, end->tid);
        if (!end->followed)
            verify_follow(t->verify, end->id, false);
    }
    t->end_count -= told;
    if (told && t->end_count)
        memmove(t->ends, t->ends + told, t->end_count * sizeof *t->ends);
    if (t->members)
        members_round(t->members);
}

void tasks_free(struct tasks *t)
{
    table_free(t->started);
    table_free(t->births);
    table_free(t->bases);
    free(t->ends);
    *t = (struct tasks){0};
}
