/* ring_size.c - see ring_size.h. */
#include "collector/rings/ring_size.h"

#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/events/open.h"

#define RING_PLAIN (512u << 10) /* what perf_event_mlock_kb allows every user per CPU */
#define RING_STACKS                                                                                          \
    (2u                                                                                                      \
     << 20) /* with stack records: of 200 processes that start at once, until we run again; with fast clocks */
#define RING_DUMPS (8u << 20)

/* What each CPU's ring may have, so that all get the same (kernel/events/core.c, perf_mmap): kernel.perf_event_mlock_kb
 * for each CPU, and a process's limit of locked memory for all. */
static size_t ring_limit(size_t cpus)
{
    struct rlimit locked;
    if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &locked) != 0)
        return SIZE_MAX;
    size_t each = (size_t)open_setting("/proc/sys/kernel/perf_event_mlock_kb", 516) << 10;
    return locked.rlim_cur == RLIM_INFINITY ? SIZE_MAX : each + (size_t)locked.rlim_cur / cpus;
}

size_t ring_size(const struct event *events, size_t count, size_t cpus)
{
    bool dumps = false;
    size_t clocks = 0, page = (size_t)sysconf(_SC_PAGESIZE), limit = ring_limit(cpus), bytes = RING_PLAIN;
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
