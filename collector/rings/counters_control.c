/* counters_control.c - starts, stops and sets open events, and reads what they counted; see counters.h. */
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collector/events/vary.h"
#include "collector/rings/counters_data.h"

static const struct event *event_of(const struct counters *counters, size_t opened)
{
    return &counters->events[counters->opened[opened].event];
}

/* Enables events of stacks first, which samples write to. Groups are next, each group's leader last: an event
 * enabled after its leader stays off if they are of different software PMUs, as a clock and page faults are
 * (Linux 6.18). */
static void enable_descriptors(const struct counters *counters, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (event_of(counters, i)->stacks)
            ioctl(counters->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
    for (size_t i = first + count; i-- > first;)
        if (event_of(counters, i)->group && !event_of(counters, i)->switched)
            ioctl(counters->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
    for (size_t i = first; i < first + count; i++)
        if (!event_of(counters, i)->group && !event_of(counters, i)->switched)
            ioctl(counters->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void counters_enable_cpus(struct counters *counters)
{
    enable_descriptors(counters, counters->by_cpu, counters->by_cpu_count);
}

void counters_enable(struct counters *counters)
{
    enable_descriptors(counters, 0, counters->fd_count);
}

void counters_disable(struct counters *counters)
{
    for (size_t i = 0; i < counters->fd_count; i++)
        ioctl(counters->opened[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

size_t counters_vary(struct counters *counters, size_t event)
{
    size_t count = 0;
    for (size_t i = 0; i < counters->fd_count; i++) {
        if (counters->opened[i].event != event)
            continue;
        uint64_t period = vary_period(&counters->events[event].attr, &counters->random);
        ioctl(counters->opened[i].fd, PERF_EVENT_IOC_PERIOD, &period);
        count++;
    }
    return count;
}

void counters_period(const struct counters *counters, size_t event, uint64_t period)
{
    for (size_t i = 0; i < counters->fd_count; i++)
        if (counters->opened[i].event == event)
            ioctl(counters->opened[i].fd, PERF_EVENT_IOC_PERIOD, &period);
}

void counters_switch(const struct counters *counters, size_t event, bool on)
{
    for (size_t i = 0; i < counters->fd_count; i++)
        if (counters->opened[i].event == event && !(on && counters_settled(counters, i)))
            ioctl(counters->opened[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* struct read_format of perf_event_open(2) for our events. */
struct counts {
    uint64_t value, enabled, running, lost;
};

/* false: not available. `lost` stays 0 if the kernel does not count it. */
static bool read_counts(int fd, struct counts *counts)
{
    *counts = (struct counts){0};
    return read(fd, counts, sizeof *counts) >= (ssize_t)offsetof(struct counts, lost);
}

uint64_t counters_lost(const struct counters *counters)
{
    uint64_t lost = 0;
    struct counts counts;
    for (size_t i = 0; i < counters->fd_count; i++)
        if (read_counts(counters->opened[i].fd, &counts))
            lost += counts.lost;
    return lost;
}

void counters_totals(const struct counters *counters, size_t event, struct counters_totals *out)
{
    struct counts counts;
    *out = (struct counters_totals){0};
    for (size_t i = 0; i < counters->fd_count; i++) {
        if (counters->opened[i].event != event || !read_counts(counters->opened[i].fd, &counts))
            continue;
        out->value += counts.value;
        out->enabled += counts.enabled;
        out->running += counts.running;
    }
    /* A thread's events are enabled on all CPUs while it runs on one. */
    if (counters->events[event].attr.inherit)
        out->enabled /= counters->cpu_count;
    /* Threads that end do not add to their events on other CPUs the time since these last counted. */
    if (out->enabled < out->running)
        out->enabled = out->running;
}
