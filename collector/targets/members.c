/* members.c - tracks what is recorded; see members.h. */
#include "collector/targets/members.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"

struct members {
    bool threads;
    struct table *of;      /* PID, or TID -> how many of its threads run; 0: ended in this round */
    struct table *running; /* TID -> PID of threads that were seen to start */
    bool ended;            /* some have */
};

#define FOR_EVER (UINT64_C(1) << 32)

struct members *members_new(bool threads)
{
    struct members *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->threads = threads;
    m->of = table_new();
    m->running = table_new();
    if (!m->of || !m->running) {
        members_free(m);
        m = NULL;
    }
    return m;
}

void members_free(struct members *m)
{
    if (!m)
        return;
    table_free(m->of);
    table_free(m->running);
    free(m);
}

pid_t members_id(const struct members *m, pid_t pid, pid_t tid)
{
    return m->threads ? tid : pid;
}

static uint64_t key_of(const struct members *m, pid_t pid, pid_t tid)
{
    return (uint32_t)members_id(m, pid, tid);
}

bool members_add(struct members *m, pid_t pid, pid_t tid)
{
    uint64_t *count = table_put(m->of, key_of(m, pid, tid), NULL);
    if (count)
        *count |= FOR_EVER;
    return count;
}

/* Counts the end of one of a member's threads. Returns whether the member ends with it. */
static bool end_one(struct members *m, uint64_t *count)
{
    if (!count || !*count)
        return false;
    --*count;
    m->ended |= *count == 0;
    return *count == 0;
}

bool members_start(struct members *m, pid_t pid, pid_t tid)
{
    bool added;
    uint64_t *process = table_put(m->running, (uint32_t)tid, &added);
    if (!process)
        return false;
    if (!added && *process == (uint32_t)pid)
        return true;
    if (!added) /* its number is in use by another process, and its end is in another ring */
        end_one(m, table_find(m->of, key_of(m, (pid_t)*process, tid)));
    *process = (uint32_t)pid;
    uint64_t *count = table_put(m->of, key_of(m, pid, tid), NULL);
    if (count)
        ++*count;
    return count;
}

bool members_end(struct members *m, pid_t pid, pid_t tid)
{
    uint64_t *count = table_find(m->of, key_of(m, pid, tid));
    return table_remove(m->running, (uint32_t)tid) && end_one(m, count);
}

void members_round(struct members *m)
{
    uint64_t key, count, gone[64];
    while (m->ended) {
        size_t cursor = 0, found = 0;
        while (found < 64 && table_next(m->of, &cursor, &key, &count))
            if (count == 0)
                gone[found++] = key;
        for (size_t i = 0; i < found; i++)
            table_remove(m->of, gone[i]);
        m->ended = found == 64;
    }
}

bool members_has(const struct members *m, pid_t pid, pid_t tid)
{
    return table_find(m->of, key_of(m, pid, tid));
}
