/* nothing.c - see nothing.h. */
#include "collector/nothing.h"

#include <stdio.h>
#include <unistd.h>

#include "collector/rings/counters.h"
#include "perfdata/heap_event.h"

/* CPU time of everything recorded that still runs or has not been waited for, and of the command. */
static struct cpu_use used_time(const struct collector *c)
{
    struct cpu_use used = {0};
    for (size_t i = 0; i < c->uses.count; i++) {
        used.user += c->uses.list[i].user;
        used.kernel += c->uses.list[i].kernel;
    }
    if (!c->options->no_children &&
        c->cgroup.fd < 0) { /* a command's CPU time is only known together with its children's */
        used.user += c->launch.user;
        used.kernel += c->launch.kernel;
    }
    return used;
}

static void describe_event(const struct collector *c, char *text, size_t size)
{
    struct counters_totals totals;
    const struct event *event = &c->events[0];
    counters_totals(c->counters, 0, &totals);
    if (totals.value == 0 && heap_event_of(&event->attr))
        snprintf(text, size,
                 "no allocation was sampled: few bytes were allocated (a smaller --alloc-bytes samples "
                 "more), or by a static program, into which --alloc -- COMMAND can load nothing");
    else if (totals.value == 0)
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

static void describe_time(const struct collector *c, char *text, size_t size)
{
    if (c->options->everyone || c->options->one_user) { /* whose CPU time is unknown */
        snprintf(text, size, "hardly any CPU time was used%s%s", c->options->one_user ? " by this user" : "",
                 c->options->event.kernel ? ""
                                          : " outside of the kernel, which is not sampled (--kernel: it is)");
        return;
    }
    const struct cpu_use used = used_time(c);
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
    else if (c->cgroup.fd >= 0 && !c->process_count)
        snprintf(text, size, "no process was in cgroup %s when it began", c->cgroup.path);
    else if (attr_is_clock(&c->events[0].attr) || (c->by_cpu && !c->options->everyone))
        describe_time(c, text, size);
    else
        describe_event(c, text, size);
}
