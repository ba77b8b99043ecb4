/* counters.c - events on threads and CPUs, and their rings; see counters.h. */
#include "collector/rings/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/events/open.h"
#include "collector/events/settle.h"
#include "collector/rings/counters_data.h"
#include "collector/rings/cpus.h"

#define WATCH_NONE UINT32_MAX

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
                              .program = -1,
                              .cgroup = -1};
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
    for (size_t i = 0; i < counters->carrier_count; i++) {
        if (counters->carriers[i].link >= 0)
            close(counters->carriers[i].link);
        close(counters->carriers[i].fd);
    }
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
    free(counters->carriers);
    free(counters->opened);
    free(counters);
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

void counters_attach(struct counters *counters, int program)
{
    counters->program = program;
}

void counters_within(struct counters *counters, int cgroup, bool filtered)
{
    counters->cgroup = cgroup;
    counters->filtered = filtered;
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

size_t counters_ring_bytes(const struct counters *counters)
{
    return counters->ring_bytes;
}

size_t counters_event(const struct counters *counters, uint64_t id)
{
    const uint64_t *place = table_find(counters->ids, id);
    return place ? (size_t)(*place & 0xff) : counters->event_count;
}
