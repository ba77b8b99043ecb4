/* main_stacks.c - see main_stacks.h. */
#include "infer/bases/main_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"

#define OF_THREAD 0 /* in place of a number: the process has a copy of another thread's stack */

struct main_stacks {
    struct table *of; /* PID -> number, or OF_THREAD */
    uint32_t last;    /* the last number assigned */
};

struct main_stacks *main_stacks_new(void)
{
    struct main_stacks *s = calloc(1, sizeof *s);
    return whole_or_free(s, (s->of = table_new()), free);
}

void main_stacks_free(struct main_stacks *s)
{
    if (!s)
        return;
    table_free(s->of);
    free(s);
}

uint32_t main_stacks_of(const struct main_stacks *s, uint32_t pid, uint32_t tid)
{
    const uint64_t *number = pid == tid ? table_find(s->of, pid) : NULL;
    return number ? (uint32_t)*number : OF_THREAD;
}

/* Gives a process a number if it has none. */
static int number_process(struct main_stacks *s, uint32_t pid)
{
    bool added;
    uint64_t *number = table_put(s->of, pid, &added);
    if (!number)
        return -ENOMEM;
    if (added)
        *number = ++s->last;
    return 0;
}

static int begin_stack(struct main_stacks *s, uint32_t pid, uint32_t number)
{
    return table_set(s->of, pid, number) ? 0 : -ENOMEM;
}

int main_stacks_apply(struct main_stacks *s, const struct record *record)
{
    if (record->kind == RECORD_SAMPLE)
        return number_process(s, record->sample.pid);
    if (record->kind == RECORD_COMM && record->comm.exec)
        return begin_stack(s, record->pid, ++s->last);
    /* A FORK without a time describes a process that existed before recording began: it may have called exec since its fork. */
    if (record->kind != RECORD_FORK || record->pid == record->fork.parent_pid || record->time == 0)
        return 0;
    int rc = number_process(s, record->fork.parent_pid);
    return rc < 0 ? rc
                  : begin_stack(s, record->pid,
                                main_stacks_of(s, record->fork.parent_pid, record->fork.parent_tid));
}
