/* nothing.c - see nothing.h. CPU time is that of /proc, which has no event's limits. */
#include "collector/nothing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector/attach.h"
#include "collector/rings/counters.h"
#include "collector/targets/proc.h"

/* CPU time, ticks. */
struct used {
    uint64_t user, kernel;
};

void nothing_begin(struct process *p)
{
    struct proc_stat stat;
    if (proc_stat(p->pid, &stat) == 0) {
        p->user = stat.user;
        p->kernel = stat.kernel;
    }
}

static void add(struct used *used, const struct process *p)
{
    struct proc_stat stat;
    if (proc_stat(p->pid, &stat) != 0)
        return;
    used->user += stat.user > p->user ? stat.user - p->user : 0;
    used->kernel += stat.kernel > p->kernel ? stat.kernel - p->kernel : 0;
}

/* Of what is recorded and still runs, or has not been waited for. */
static struct used use(const struct collector *c)
{
    struct used used = {0};
    pid_t *found = NULL;
    for (size_t i = 0; i < c->process_count; i++)
        add(&used, &c->processes[i]);
    if (c->options->no_children) /* what a command used is known only with its children's */
        return used;
    used.user += c->launch.user;
    used.kernel += c->launch.kernel;
    if (c->launch.pid && c->launch.status == -1)
        add(&used, &(struct process){.pid = c->launch.pid});
    size_t count = 0;
    if (attach_children_of(c, &found, &count, NULL) != 0)
        return used;
    for (size_t i = 0; i < count; i++)
        add(&used, &(struct process){.pid = found[i]});
    free(found);
    return used;
}

static void tell_event(const struct collector *c, char *text, size_t size)
{
    struct counters_totals totals;
    const struct event *event = &c->events[0];
    counters_totals(c->counters, 0, &totals);
    if (totals.value == 0)
        snprintf(text, size, "event %s did not occur", event->name);
    else if (event->attr.freq)
        snprintf(text, size,
                 "event %s occurred only %llu times: sample more often (-F, or -c with a number of events)",
                 event->name, (unsigned long long)totals.value);
    else
        snprintf(
            text, size, "event %s occurred %llu times, and a sample is taken every %llu: give a smaller -c",
            event->name, (unsigned long long)totals.value, (unsigned long long)event->attr.sample_period);
}

static double ms(uint64_t ticks)
{
    return 1e3 * (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static void tell_time(const struct collector *c, char *text, size_t size)
{
    const struct used used = use(c);
    const char *children = c->options->no_children ? "; child processes were left out (--no-children)" : "";
    if (used.user + used.kernel == 0)
        snprintf(text, size, "hardly any CPU time was used: what is recorded waited, or has ended%s",
                 children);
    else if (used.kernel >= used.user && !c->options->event.kernel)
        snprintf(text, size,
                 "of %.0f ms of CPU time, %.0f were in the kernel, which is not sampled (--kernel: it is)%s",
                 ms(used.user + used.kernel), ms(used.kernel), children);
    else
        snprintf(text, size, "only %.0f ms of CPU time were used: record longer, or sample more often (-F)%s",
                 ms(used.user + used.kernel), children);
}

void nothing_reason(const struct collector *c, char *text, size_t size)
{
    if (c->summary.lost)
        snprintf(text, size, "all records were lost");
    else if (attr_is_clock(&c->events[0].attr) || c->by_cpu)
        tell_time(c, text, size);
    else
        tell_event(c, text, size);
}
