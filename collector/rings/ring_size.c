/* ring_size.c - see ring_size.h. */
#include "collector/rings/ring_size.h"

#include <sys/resource.h>
#include <unistd.h>

#include "collector/events/open.h"

#define RING_DUMPS (8u << 20)

uint64_t ring_room(long mlock_kb, uint64_t locked, size_t cpus)
{
    uint64_t each = (uint64_t)(mlock_kb < 0 ? 0 : mlock_kb) << 10;
    return locked == UINT64_MAX ? UINT64_MAX : each + locked / cpus;
}

static uint64_t ring_limit(size_t cpus)
{
    struct rlimit locked;
    if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &locked) != 0)
        return UINT64_MAX;
    long each = open_setting("/proc/sys/kernel/perf_event_mlock_kb", RING_MLOCK_KB);
    return ring_room(each, locked.rlim_cur == RLIM_INFINITY ? UINT64_MAX : locked.rlim_cur, cpus);
}

size_t ring_size(const struct event *events, size_t count, size_t cpus)
{
    bool dumps = false;
    size_t clocks = 0, page = (size_t)sysconf(_SC_PAGESIZE), bytes = RING_PLAIN;
    uint64_t limit = ring_limit(cpus);
    for (size_t i = 0; i < count; i++) {
        clocks += events[i].audit;
        bytes = events[i].stacks || clocks > 1 ? RING_STACKS : bytes;
        dumps |= !events[i].audit && events[i].attr.sample_stack_user;
    }
    if (dumps)
        bytes = RING_DUMPS;
    while (bytes > RING_PLAIN && bytes + page > limit)
        bytes /= 2;
    return bytes;
}
