/* counters.c - events on threads and CPUs, and their rings; see counters.h. */
#include "collector/rings/counters.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "collector/events/open.h"
#include "collector/events/remedy.h"
#include "collector/events/settle.h"
#include "collector/events/vary.h"
#include "collector/rings/cpus.h"
#include "collector/rings/ring_size.h"

#define RING_LEAST (64u << 10) /* one record is at most 64 KiB */
#define WATCH_NONE UINT32_MAX
#define LATE_TWICE (1ULL << 63)

struct counters {
    struct event *events;
    size_t event_count;
    size_t tasks; /* index of the event with the records about tasks: it owns the rings and is polled */
    size_t ring_bytes;
    bool ring_chosen; /* by us: it may be reduced */
    const struct log *log;
    int *cpus; /* online ones */
    size_t cpu_count;
    struct ring *rings; /* one per CPU */
    int *owners;        /* the descriptor that each ring belongs to; -1: none yet */
    struct opened {
        int fd, cpu; /* the CPU's number */
        size_t event;
        bool wakes; /* the reader, at each record */
    } * opened;
    size_t fd_count, fd_room;
    size_t by_cpu,
        by_cpu_count; /* the events opened by CPU, which are consecutive: the first and their number */
    size_t alive;     /* descriptors in epoll that have not hung up */
    int epoll;
    uint64_t random;   /* state of vary_period() */
    int program;       /* a BPF program for the first event; -1: none */
    struct table *ids; /* sample id to event index and, from bit 8 on, the thread it was opened for */
    struct table
        *late; /* late threads: tid to index of the first descriptor, their number << 32, LATE_TWICE */
};

/* Every thread, CPU and event takes a descriptor. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t most = (rlim_t)open_setting("/proc/sys/fs/nr_open", 1048576);
    struct rlimit wide = {most, most > limit.rlim_max ? most : limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &wide) == 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int counters_new(struct event *events, size_t count, size_t ring_bytes, const struct log *log,
                 struct counters **out, struct fathom_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (ring_bytes && (ring_bytes & (ring_bytes - 1) || ring_bytes < page))
        return error_set(err, EINVAL, "a ring of %zu bytes is not a power of two of pages", ring_bytes);
    struct counters *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(err);
    *made = (struct counters){.events = events,
                              .event_count = count,
                              .ring_bytes = ring_bytes,
                              .ring_chosen = ring_bytes == 0,
                              .log = log,
                              .epoll = -1,
                              .random = clock_ns(),
                              .program = -1};
    while (made->tasks + 1 < count && !events[made->tasks].attr.task)
        made->tasks++;
    int rc = cpus_online(CPUS_ONLINE, &made->cpus, &made->cpu_count);
    if (rc) {
        error_system(err, -rc, "cannot read the list of CPUs in %s or /proc/stat", CPUS_ONLINE);
        goto fail;
    }
    if (!ring_bytes)
        made->ring_bytes = ring_size(events, count, made->cpu_count);
    made->rings = calloc(made->cpu_count, sizeof *made->rings);
    made->owners = malloc(made->cpu_count * sizeof *made->owners);
    made->ids = table_new();
    made->late = table_new();
    if (!made->rings || !made->owners || !made->ids || !made->late) {
        rc = error_memory(err);
        goto fail;
    }
    for (size_t i = 0; i < made->cpu_count; i++)
        made->owners[i] = -1;
    for (size_t i = 0; i < made->cpu_count; i++)
        made->rings[i].cpu = made->cpus[i];
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (made->epoll < 0) {
        rc = error_system(err, errno, "cannot make an epoll descriptor");
        goto fail;
    }
    raise_file_limit();
    settle_attrs(events, count, log);
    for (size_t i = 0; i < count; i++)
        if (events[i].attr.watermark)
            events[i].attr.wakeup_watermark = (uint32_t)(made->ring_bytes / 4);
    *out = made;
    return 0;
fail:
    counters_free(made);
    return rc;
}

void counters_free(struct counters *counters)
{
    if (!counters)
        return;
    for (size_t i = 0; counters->rings && i < counters->cpu_count; i++)
        ring_unmap(&counters->rings[i]);
    for (size_t i = 0; i < counters->fd_count; i++)
        close(counters->opened[i].fd);
    for (size_t i = 0; i < counters->event_count; i++) {
        free(counters->events[i].ids);
        counters->events[i].ids = NULL;
        counters->events[i].id_count = 0;
    }
    if (counters->epoll >= 0)
        close(counters->epoll);
    table_free(counters->ids);
    table_free(counters->late);
    free(counters->cpus);
    free(counters->rings);
    free(counters->owners);
    free(counters->opened);
    free(counters);
}

/* Maps the CPU's ring; a size that we chose ourselves is halved until the kernel accepts it. */
static int map_ring(struct counters *counters, size_t cpu, int fd, struct fathom_error *err)
{
    size_t asked = counters->ring_bytes;
    int rc = ring_map(&counters->rings[cpu], fd, counters->ring_bytes);
    while ((rc == -EPERM || rc == -ENOMEM) && counters->ring_chosen && counters->ring_bytes > RING_LEAST) {
        counters->ring_bytes /= 2;
        rc = ring_map(&counters->rings[cpu], fd, counters->ring_bytes);
    }
    if (rc)
        return error_set(err, -rc, "cannot map a ring buffer of %zu bytes per CPU: " REMEDY_RING,
                         counters->ring_bytes);
    if (counters->ring_bytes < asked)
        log_write(counters->log, LOG_NOTE,
                  "ring buffers are %zu KiB per CPU instead of %zu (kernel.perf_event_mlock_kb): samples are "
                  "lost more easily",
                  counters->ring_bytes >> 10, asked >> 10);
    counters->owners[cpu] = fd;
    return 0;
}

static int keep_id(struct counters *counters, size_t event, pid_t tid, int fd, struct fathom_error *err)
{
    struct event *e = &counters->events[event];
    uint64_t id;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        return error_system(err, errno, "cannot read the id of event '%s'", e->name);
    uint64_t *more = e->ids;
    if ((e->id_count & (e->id_count - 1)) == 0) /* room is the next power of two */
        more = realloc(e->ids, (e->id_count ? e->id_count * 2 : 1) * sizeof *e->ids);
    uint64_t *place = more ? table_put(counters->ids, id, NULL) : NULL;
    if (more)
        e->ids = more;
    if (!place)
        return error_memory(err);
    *place = event | (uint64_t)(uint32_t)tid << 8;
    e->ids[e->id_count++] = id;
    return 0;
}

/* Takes ownership of the descriptor, even on failure. */
static int keep_fd(struct counters *counters, struct opened opened, struct fathom_error *err)
{
    if (vec_push(counters->opened, counters->fd_count, counters->fd_room, opened))
        return 0;
    close(opened.fd);
    return error_memory(err);
}

/* A tracepoint has the program once for all events on it. */
static int attach(const struct counters *counters, const struct event *event, int fd,
                  struct fathom_error *err)
{
    if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, counters->program) == 0 || errno == EEXIST)
        return 0;
    return error_system(err, errno, "cannot attach a BPF program to event '%s'", event->name);
}

/* One thread on one CPU, or all on it. */
struct place {
    pid_t tid;
    size_t cpu;                 /* index */
    int leaders[UINT8_MAX + 1]; /* of the groups, descriptors; -1: not opened yet */
};

static struct place place_of(pid_t tid, size_t cpu)
{
    struct place place = {.tid = tid, .cpu = cpu};
    memset(place.leaders, 0xff, sizeof place.leaders);
    return place;
}

/* Opens an event, and takes its place as the leader of its group if it is the first of it. A descriptor or a negative
 * errno. */
static int open_at(struct counters *counters, const struct event *event, bool wakes, struct place *place)
{
    struct perf_event_attr attr = event->attr;
    if (vary_is(&attr))
        attr.sample_period = vary_period(&event->attr, &counters->random);
    if (wakes) {
        attr.watermark = 0;
        attr.wakeup_events = 1;
    }
    int *leader = &place->leaders[event->group];
    int fd = open_in_group(&attr, place->tid, counters->cpus[place->cpu], event->group ? *leader : -1);
    if (fd >= 0 && event->group && *leader < 0)
        *leader = fd;
    return fd;
}

static int open_one(struct counters *counters, size_t event, bool wakes, struct place *place,
                    struct fathom_error *err)
{
    struct event *e = &counters->events[event];
    const pid_t tid = place->tid;
    const size_t cpu = place->cpu;
    int fd = open_at(counters, e, wakes, place);
    if (fd == -ENODEV && event == counters->tasks && counters->cpu_count > 1 && open_probe(&e->attr) == 0)
        return 0; /* the CPU went offline */
    if (fd == -ENOENT && e->partial)
        return 0; /* it is of the other kind */
    if (fd < 0)
        return open_error(err, -fd, e->name, &e->attr, tid);
    int rc = keep_fd(counters, (struct opened){fd, counters->cpus[cpu], event, wakes}, err);
    if (rc)
        return rc;
    if (counters->owners[cpu] < 0)
        rc = map_ring(counters, cpu, fd, err);
    else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, counters->owners[cpu]) != 0)
        rc = error_system(err, errno, "cannot share the ring buffer of CPU %d", counters->cpus[cpu]);
    if (rc == 0 && e->followed && counters->program >= 0)
        rc = attach(counters, e, fd, err);
    if (rc == 0)
        rc = keep_id(counters, event, tid, fd, err);
    if (rc || event != counters->tasks)
        return rc;
    struct epoll_event watch = {.events = EPOLLIN, .data.u32 = (uint32_t)fd};
    if (epoll_ctl(counters->epoll, EPOLL_CTL_ADD, fd, &watch) != 0)
        return error_system(err, errno, "cannot watch event '%s'", e->name);
    counters->alive++;
    return 0;
}

/* The event behind it first, if that is its helper. */
static int open_with_helper(struct counters *counters, size_t event, struct place *place,
                            struct fathom_error *err)
{
    int rc = 0;
    if (event + 1 < counters->event_count && counters->events[event + 1].helper)
        rc = open_one(counters, event + 1, false, place, err);
    return rc ? rc : open_one(counters, event, false, place, err);
}

int counters_open(struct counters *counters, pid_t tid, bool late, struct fathom_error *err)
{
    size_t first = counters->fd_count;
    for (size_t cpu = 0; cpu < counters->cpu_count; cpu++) {
        struct place place = place_of(tid, cpu);
        int rc = open_with_helper(counters, counters->tasks, &place, err);
        for (size_t event = 0; rc == 0 && event < counters->event_count; event++)
            if (event != counters->tasks && counters->events[event].attr.inherit &&
                !counters->events[event].helper)
                rc = open_with_helper(counters, event, &place, err);
        if (rc)
            return rc;
    }
    if (late) {
        uint64_t *place = table_put(counters->late, (uint32_t)tid, NULL);
        if (!place)
            return error_memory(err);
        *place = first | (uint64_t)(counters->fd_count - first) << 32;
    }
    return 0;
}

#define EVERY_THREAD (-1) /* of perf_event_open(2) */

int counters_open_cpus(struct counters *counters, struct fathom_error *err)
{
    counters->by_cpu = counters->fd_count;
    int rc = 0;
    for (size_t cpu = 0; cpu < counters->cpu_count && rc == 0; cpu++) {
        struct place place = place_of(EVERY_THREAD, cpu);
        for (size_t event = 0; event < counters->event_count && rc == 0; event++) {
            const struct event *e = &counters->events[event];
            if (e->attr.inherit || e->helper || counters->owners[cpu] < 0)
                continue;
            rc = open_with_helper(counters, event, &place, err);
            if (rc == 0 && e->stacks)
                rc = open_one(counters, event, true, &place, err);
        }
    }
    counters->by_cpu_count = counters->fd_count - counters->by_cpu;
    return rc;
}

/* Those of groups first, and each group's leader last: an event that is enabled after its leader stays off if they are of
 * different software PMUs, as a clock and page faults are (Linux 6.18). */
static void enable(const struct counters *counters, size_t first, size_t count)
{
    for (size_t i = first + count; i-- > first;)
        if (counters->events[counters->opened[i].event].group)
            ioctl(counters->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
    for (size_t i = first; i < first + count; i++)
        if (!counters->events[counters->opened[i].event].group)
            ioctl(counters->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void counters_enable_cpus(struct counters *counters)
{
    enable(counters, counters->by_cpu, counters->by_cpu_count);
}

bool counters_unsettled(const struct counters *counters)
{
    return table_count(counters->late) > 0;
}

void counters_settle(struct counters *counters, uint64_t id, pid_t tid)
{
    const uint64_t *opened = table_find(counters->ids, id);
    uint64_t *own = table_find(counters->late, (uint32_t)tid);
    if (!opened || !counters->events[*opened & 0xff].attr.inherit || !own || *own & LATE_TWICE ||
        *opened >> 8 == (uint32_t)tid)
        return;
    size_t first = (uint32_t)*own, count = (size_t)(*own >> 32);
    for (size_t i = first; i < first + count; i++)
        ioctl(counters->opened[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    *own |= LATE_TWICE;
}

bool counters_twice(const struct counters *counters, uint64_t id, pid_t tid)
{
    const uint64_t *opened = table_find(counters->ids, id);
    const uint64_t *own = table_find(counters->late, (uint32_t)tid);
    return opened && own && *own & LATE_TWICE && *opened >> 8 == (uint32_t)tid;
}

void counters_enable(struct counters *counters)
{
    enable(counters, 0, counters->fd_count);
}

void counters_disable(struct counters *counters)
{
    for (size_t i = 0; i < counters->fd_count; i++)
        ioctl(counters->opened[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

int counters_watch(struct counters *counters, int extra_fd, struct fathom_error *err)
{
    struct epoll_event watch = {.events = EPOLLIN, .data.u32 = WATCH_NONE};
    if (epoll_ctl(counters->epoll, EPOLL_CTL_ADD, extra_fd, &watch) != 0)
        return error_system(err, errno, "cannot watch the command");
    return 0;
}

int counters_wait(struct counters *counters, int timeout_ms, struct fathom_error *err)
{
    struct epoll_event ready[64];
    int n = epoll_wait(counters->epoll, ready, 64, timeout_ms);
    if (n < 0)
        return errno == EINTR ? 0 : error_system(err, errno, "cannot wait for samples");
    for (int i = 0; i < n; i++)
        if (ready[i].data.u32 != WATCH_NONE && ready[i].events & (EPOLLHUP | EPOLLERR)) {
            epoll_ctl(counters->epoll, EPOLL_CTL_DEL, (int)ready[i].data.u32, NULL);
            counters->alive--;
        }
    return 0;
}

bool counters_alive(const struct counters *counters)
{
    return counters->alive > 0;
}

size_t counters_rings(const struct counters *counters, struct ring **out)
{
    *out = counters->rings;
    return counters->cpu_count;
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
}

void counters_attach(struct counters *counters, int program)
{
    counters->program = program;
}

int counters_each(const struct counters *counters, size_t event,
                  int (*use)(void *context, int fd, int cpu, bool wakes, struct fathom_error *err),
                  void *context, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < counters->fd_count && rc >= 0; i++) {
        const struct opened *o = &counters->opened[i];
        if (o->event == event)
            rc = use(context, o->fd, o->cpu, o->wakes, err);
    }
    return rc;
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

/* Whether counters_settle() has stopped the descriptor for good. */
static bool is_settled(const struct counters *counters, size_t at)
{
    size_t cursor = 0;
    uint64_t tid, own;
    while (table_next(counters->late, &cursor, &tid, &own)) {
        size_t first = (uint32_t)own, count = (size_t)((own & ~LATE_TWICE) >> 32);
        if (own & LATE_TWICE && at >= first && at - first < count)
            return true;
    }
    return false;
}

void counters_switch(const struct counters *counters, size_t event, bool on)
{
    for (size_t i = 0; i < counters->fd_count; i++)
        if (counters->opened[i].event == event && !(on && is_settled(counters, i)))
            ioctl(counters->opened[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

size_t counters_ring_bytes(const struct counters *counters)
{
    return counters->ring_bytes;
}

size_t counters_event(const struct counters *counters, uint64_t id)
{
    const uint64_t *place = table_find(counters->ids, id);
    return place ? (size_t)(*place & 0xff) : counters->event_count;
}
