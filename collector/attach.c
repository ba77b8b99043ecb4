/* attach.c - see attach.h. */
#include "collector/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "collector/rings/counters.h"
#include "collector/targets/descendants.h"
#include "collector/targets/proc.h"

/* Maximum re-reads of a process's threads or children while new ones keep appearing. */
#define SCANS 100

static bool contains(const pid_t *list, size_t count, pid_t wanted)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == wanted)
            return true;
    return false;
}

static int refuse_gone(struct fathom_error *err, pid_t pid)
{
    return error_set(err, ESRCH, "process %d does not exist", (int)pid);
}

int attach_add(struct collector *c, struct process process, struct fathom_error *err)
{
    return vec_push(c->processes, c->process_count, c->process_capacity, process) ? 0 : error_memory(err);
}

int attach_thread(struct collector *c, pid_t tid, bool late, struct fathom_error *err)
{
    int rc = counters_open(c->counters, tid, late, err);
    const bool waits = tid == c->launch.pid && !c->launch.started;
    if (rc == 0 && c->verify && !c->by_cpu && !waits)
        verify_follow(c->verify, tid, true);
    return rc;
}

struct threads {
    pid_t *tids;
    size_t count;
};

/* Opens the threads that are not in `known`. *opened counts them. */
static int attach_threads(struct collector *c, struct threads all, struct threads known, bool late,
                          size_t *opened, struct fathom_error *err)
{
    for (size_t i = 0; i < all.count; i++) {
        if (contains(known.tids, known.count, all.tids[i]))
            continue;
        int rc = attach_thread(c, all.tids[i], late || known.count > 0, err);
        if (rc && rc != -ESRCH) /* ESRCH: it has ended since */
            return rc;
        *opened += rc == 0;
    }
    return 0;
}

/* Attaches to all threads of a process, and adds it. Threads that start meanwhile appear in the next reading
 * of the list. */
static int attach_process(struct collector *c, pid_t pid, bool late, struct fathom_error *err)
{
    struct threads known = {0}, all;
    size_t opened = 0, before;
    int rc = 0, scan = 0;
    do {
        before = opened;
        rc = proc_threads(pid, &all.tids, &all.count);
        if (rc) {
            rc = rc == -ESRCH ? refuse_gone(err, pid)
                              : error_system(err, -rc, "cannot list the threads of process %d", (int)pid);
            break;
        }
        rc = attach_threads(c, all, known, late, &opened, err);
        free(known.tids);
        known = all;
    } while (rc == 0 && opened > before && ++scan < SCANS);
    free(known.tids);
    if (rc == 0)
        rc = opened ? attach_add(c, (struct process){.pid = pid}, err) : refuse_gone(err, pid);
    return rc;
}

static uint64_t ticks_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec * second / 1000000000;
}

/* Opens the events on a child, unless it ended meanwhile or is another user's. began: ticks_now() before any events
 * were opened. */
static int attach_child(struct collector *c, pid_t pid, uint64_t began, struct fathom_error *err)
{
    struct fathom_error why;
    struct proc_stat stat;
    if (proc_stat(pid, &stat) != 0)
        return 0;
    int rc = attach_process(c, pid, stat.started >= began, &why);
    if (rc == -EACCES || rc == -EPERM) {
        log_write(c->options->log, LOG_WARNING, "child process %d is left out: %s", (int)pid, why.text);
        rc = attach_add(c, (struct process){.pid = pid, .refused = true}, err);
    } else if (rc && rc != -ESRCH) {
        return error_set(err, -rc, "%s", why.text);
    }
    return rc == -ESRCH ? 0 : rc;
}

int attach_children_of(const struct collector *c, pid_t **out, size_t *count, struct fathom_error *err)
{
    pid_t *known = calloc(c->process_count + 1, sizeof *known), *found = NULL;
    size_t known_count = 0, all = 0, used = 0;
    if (known && c->launch.pid && c->launch.status == -1)
        known[known_count++] = c->launch.pid;
    for (size_t i = 0; known && i < c->process_count; i++)
        if (!c->processes[i].tid && c->processes[i].pid != c->launch.pid)
            known[known_count++] = c->processes[i].pid;
    int rc = known ? descendants_find(known, known_count, getpid(), &found, &all) : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < all; i++)
        if (!contains(known, known_count, found[i]))
            found[used++] = found[i];
    free(known);
    if (rc)
        return error_system(err, -rc, "cannot list the children of processes");
    *out = found;
    *count = used;
    return 0;
}

static void tell_children(const struct collector *c, size_t named)
{
    size_t count = 0;
    for (size_t i = named; i < c->process_count; i++)
        count += !c->processes[i].refused;
    if (count)
        log_write(c->options->log, LOG_NOTE,
                  "%zu child process%s that run%s already followed too (--no-children: not)", count,
                  count == 1 ? "" : "es", count == 1 ? "s is" : " are");
}

static int attach_children(struct collector *c, uint64_t began, struct fathom_error *err)
{
    int rc = 0;
    size_t before, named = c->process_count;
    if (c->options->no_children || !c->options->pid_count)
        return 0;
    for (int scan = 0; rc == 0 && scan < SCANS; scan++) {
        pid_t *found;
        size_t count;
        before = c->process_count;
        rc = attach_children_of(c, &found, &count, err);
        if (rc)
            return rc;
        for (size_t i = 0; i < count && rc == 0; i++)
            rc = attach_child(c, found[i], began, err);
        free(found);
        if (c->process_count == before)
            break;
    }
    tell_children(c, named);
    return rc;
}

/* Attaches to the processes that exist: those of a server may have ended since they were listed. */
static int attach_processes(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    const uint64_t began = ticks_now();
    struct fathom_error why;
    int rc = 0;
    for (size_t i = 0; i < o->pid_count; i++) {
        rc = attach_process(c, o->pids[i], false, &why);
        if (rc && (rc != -ESRCH || o->pid_count == 1))
            return error_set(err, -rc, "%s", why.text);
        if (rc)
            log_write(o->log, LOG_WARNING, "%s: it is left out", why.text);
    }
    if (o->pid_count && !c->process_count)
        return error_set(err, ESRCH, "none of the processes exists");
    return attach_children(c, began, err);
}

int attach_open(struct collector *c, struct fathom_error *err)
{
    const struct collector_options *o = c->options;
    int rc = attach_processes(c, err);
    for (size_t i = 0; i < o->tid_count && rc == 0; i++) {
        struct process p = {.tid = o->tids[i]};
        if (proc_thread_group(p.tid, &p.pid) != 0) {
            if (o->tid_count == 1)
                return error_set(err, ESRCH, "thread %d does not exist", (int)p.tid);
            log_write(o->log, LOG_WARNING, "thread %d does not exist: it is left out", (int)p.tid);
            continue;
        }
        rc = attach_add(c, p, err);
        if (rc == 0)
            rc = attach_thread(c, p.tid, false, err);
    }
    if (rc == 0 && o->tid_count && !c->process_count)
        return error_set(err, ESRCH, "none of the threads exists");
    return rc;
}

int attach_started(struct collector *c, struct fathom_error *err)
{
    pid_t *found = NULL;
    size_t count = 0;
    if (c->options->no_children || !c->options->pid_count)
        return 0;
    int rc = attach_children_of(c, &found, &count, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = attach_add(c, (struct process){.pid = found[i]}, err);
        if (c->verify && c->by_cpu)
            verify_follow(c->verify, found[i], true);
    }
    free(found);
    return rc;
}

static int list_wide(const struct collector *c, pid_t **found, size_t *count, struct fathom_error *err)
{
    if (c->cgroup.fd >= 0)
        return cgroup_processes(&c->cgroup, found, count, err);
    int rc = proc_everyone(found, count);
    return rc ? error_system(err, -rc, "cannot list the processes in /proc") : 0;
}

int attach_wide(struct collector *c, struct fathom_error *err)
{
    pid_t *found;
    size_t count;
    int rc = list_wide(c, &found, &count, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < count && rc == 0; i++)
        if (found[i] != getpid())
            rc = attach_add(c, (struct process){.pid = found[i]}, err);
    free(found);
    return rc;
}
