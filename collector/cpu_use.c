/* cpu_use.c - see cpu_use.h. */
#include "collector/cpu_use.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "collector/attach.h"
#include "collector/targets/proc.h"

static int stat_of(const struct process *p, struct proc_stat *stat)
{
    return p->tid ? proc_thread_stat(p->pid, p->tid, stat) : proc_stat(p->pid, stat);
}

void cpu_use_begin(struct process *p)
{
    struct proc_stat stat;
    if (stat_of(p, &stat) == 0) {
        p->user = stat.user;
        p->kernel = stat.kernel;
    }
}

static int add(struct cpu_uses *uses, const struct process *p, struct fathom_error *err)
{
    struct proc_stat stat;
    if (p->refused || stat_of(p, &stat) != 0)
        return 0;
    struct cpu_use use = {.pid = p->tid ? p->tid : p->pid,
                          .user = stat.user > p->user ? stat.user - p->user : 0,
                          .kernel = stat.kernel > p->kernel ? stat.kernel - p->kernel : 0};
    snprintf(use.name, sizeof use.name, "%s", stat.name);
    return vec_push(uses->list, uses->count, uses->room, use) ? 0 : error_memory(err);
}

int cpu_use_read(const struct collector *c, struct cpu_uses *out, struct fathom_error *err)
{
    struct cpu_uses uses = {0};
    pid_t *found = NULL;
    size_t count = 0;
    int rc = 0;
    for (size_t i = 0; i < c->process_count && rc == 0; i++)
        rc = add(&uses, &c->processes[i], err);
    /* With other rights, it is among the processes. */
    if (rc == 0 && c->launch.pid && c->launch.status == -1 && !c->options->raised)
        rc = add(&uses, &(struct process){.pid = c->launch.pid}, err);
    if (rc == 0 && !c->options->no_children)
        rc = attach_children_of(c, &found, &count, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add(&uses, &(struct process){.pid = found[i]}, err);
    free(found);
    if (rc == 0)
        *out = uses;
    else
        free(uses.list);
    return rc;
}
