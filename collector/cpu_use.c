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

static void add_process(struct cpu_uses *uses, const struct process *p)
{
    struct proc_stat stat;
    if (p->refused || stat_of(p, &stat) != 0)
        return;
    struct cpu_use use = {.pid = p->tid ? p->tid : p->pid,
                          .user = stat.user > p->user ? stat.user - p->user : 0,
                          .kernel = stat.kernel > p->kernel ? stat.kernel - p->kernel : 0};
    snprintf(use.name, sizeof use.name, "%s", stat.name);
    (void)vec_push(uses->list, uses->count, uses->capacity, use);
}

void cpu_use_read(const struct collector *c, struct cpu_uses *out)
{
    struct fathom_error err;
    pid_t *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < c->process_count; i++)
        add_process(out, &c->processes[i]);
    /* A command with other privileges, or in another file than the first, is among the processes. */
    if (c->launch.pid && c->launch.status == -1 && c->options->command && !c->options->raised)
        add_process(out, &(struct process){.pid = c->launch.pid});
    /* A process whose parent has ended cannot be found as a child. */
    if (!out->count || c->options->no_children || c->wide || attach_children_of(c, &found, &count, &err) != 0)
        return;
    for (size_t i = 0; i < count; i++)
        add_process(out, &(struct process){.pid = found[i]});
    free(found);
}
