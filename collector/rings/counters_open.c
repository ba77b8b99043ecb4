/* counters_open.c - opens events on threads and CPUs, and maps the rings that they write into; see counters.h. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/vec.h"
#include "collector/events/fields.h"
#include "collector/events/open.h"
#include "collector/events/remedy.h"
#include "collector/events/vary.h"
#include "collector/rings/counters_data.h"

#define RING_LEAST (64u << 10) /* one record is at most 64 KiB */

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
    if ((e->id_count & (e->id_count - 1)) == 0) /* the capacity is the next power of two */
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
    if (vec_push(counters->opened, counters->fd_count, counters->fd_capacity, opened))
        return 0;
    close(opened.fd);
    return error_memory(err);
}

static int attach_program(const struct counters *counters, const struct event *event, int fd,
                          struct fathom_error *err)
{
    if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, counters->program) == 0 || errno == EEXIST)
        return 0;
    return error_system(err, errno, "cannot attach a BPF program to event '%s'", event->name);
}

/* A tracepoint's program is attached once for all events on it, through an event that is not enabled and that
 * no thread inherits: if an event with the program was inherited, the end of that thread would detach the
 * program from the tracepoint (Linux 6.18; kernel/events/core.c, perf_event_alloc and
 * perf_event_free_bpf_prog). */
static int attach_tracepoint(struct counters *counters, const struct event *event, struct fathom_error *err)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
                                   .size = OPEN_ATTR_SIZE,
                                   .config = event->attr.config,
                                   .sample_period = 1,
                                   .disabled = 1};
    for (size_t i = 0; i < counters->carrier_count; i++)
        if (counters->carriers[i].tracepoint == attr.config)
            return 0;
    struct carrier carrier = {open_event(&attr, 0, -1), attr.config, -1};
    if (carrier.fd < 0)
        return open_error(err, -carrier.fd, event->name, &attr, 0);
    if (!vec_push(counters->carriers, counters->carrier_count, counters->carrier_capacity, carrier)) {
        close(carrier.fd);
        return error_memory(err);
    }
    if (!event->cookie)
        return attach_program(counters, event, carrier.fd, err);
    LIBBPF_OPTS(bpf_link_create_opts, told, .perf_event.bpf_cookie = event->cookie);
    carrier.link = bpf_link_create(counters->program, carrier.fd, BPF_PERF_EVENT, &told);
    if (carrier.link < 0)
        return error_system(err, -carrier.link, "cannot attach a BPF program with a number to event '%s'",
                            event->name);
    counters->carriers[counters->carrier_count - 1] = carrier;
    return 0;
}

/* One thread on one CPU, or all threads on it. */
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

#define EVERY_THREAD (-1) /* of perf_event_open(2) */

/* Opens an event, as the leader of its group if it is the first of it. A descriptor or a negative errno. */
static int open_at(struct counters *counters, const struct event *event, bool wakes, struct place *place)
{
    struct perf_event_attr attr = event->attr;
    if (vary_is(&attr))
        attr.sample_period = event->batched ? vary_once(&event->attr, &counters->random)
                                            : vary_period(&event->attr, &counters->random);
    if (wakes) {
        attr.watermark = 0;
        attr.wakeup_events = 1;
    }
    int *leader = &place->leaders[event->group];
    const int cpu = counters->cpus[place->cpu], first = event->group ? *leader : -1;
    const bool within = place->tid == EVERY_THREAD && counters->cgroup >= 0 && !event->stacks &&
                        !event->attr.cgroup && !(event->followed && counters->filtered);
    int fd = within ? open_in_cgroup(&attr, counters->cgroup, cpu, first)
                    : open_in_group(&attr, place->tid, cpu, first);
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
        return 0; /* this CPU has the other kind of core */
    if (fd < 0)
        return open_error(err, -fd, e->name, &e->attr, tid);
    int rc = keep_fd(counters, (struct opened){fd, counters->cpus[cpu], event, wakes}, err);
    if (rc)
        return rc;
    if (counters->owners[cpu] < 0)
        rc = map_ring(counters, cpu, fd, err);
    else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, counters->owners[cpu]) != 0)
        rc = error_system(err, errno, "cannot share the ring buffer of CPU %d", counters->cpus[cpu]);
    if (rc == 0)
        rc = fields_filter(e, fd, err);
    if (rc == 0 && e->followed && counters->program >= 0)
        rc = e->attr.type == PERF_TYPE_TRACEPOINT ? attach_tracepoint(counters, e, err)
                                                  : attach_program(counters, e, fd, err);
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

/* Opens the next event first, if that is this one's helper. */
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
    if (late &&
        !table_set(counters->late, (uint32_t)tid, first | (uint64_t)(counters->fd_count - first) << 32))
        return error_memory(err);
    return 0;
}

/* Opens the events that are not inherited on one CPU, first the one that makes its ring, if that is one of them. */
static int open_cpu(struct counters *counters, size_t cpu, struct fathom_error *err)
{
    struct place place = place_of(EVERY_THREAD, cpu);
    int rc = 0;
    if (!counters->events[counters->tasks].attr.inherit)
        rc = open_with_helper(counters, counters->tasks, &place, err);
    for (size_t event = 0; event < counters->event_count && rc == 0; event++) {
        const struct event *e = &counters->events[event];
        if (event == counters->tasks || e->attr.inherit || e->helper || counters->owners[cpu] < 0)
            continue;
        rc = open_with_helper(counters, event, &place, err);
        if (rc == 0 && e->stacks)
            rc = open_one(counters, event, true, &place, err);
    }
    return rc;
}

int counters_open_cpus(struct counters *counters, struct fathom_error *err)
{
    counters->by_cpu = counters->fd_count;
    int rc = 0;
    for (size_t cpu = 0; cpu < counters->cpu_count && rc == 0; cpu++)
        rc = open_cpu(counters, cpu, err);
    counters->by_cpu_count = counters->fd_count - counters->by_cpu;
    return rc;
}
