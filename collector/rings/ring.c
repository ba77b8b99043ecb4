/* ring.c - one mapped ring buffer; see ring.h. */
#include "collector/rings/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/events/open.h"

#define RING_DUMPS (8u << 20)

int ring_map(struct ring *ring, int fd, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    *ring = (struct ring){.cpu = ring->cpu,
                          .page = map,
                          .data = (const uint8_t *)map + page,
                          .size = bytes,
                          .waited = UINT64_MAX};
    return 0;
}

int64_t ring_stack_room(const struct ring *ring)
{
    return (int64_t)(ring->size / 4 * 3) - (int64_t)(ring_head(ring) - ring->tail);
}

void ring_unmap(struct ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->size + (size_t)sysconf(_SC_PAGESIZE));
    ring->page = NULL;
}

uint64_t ring_head(const struct ring *ring)
{
    return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

const void *ring_join(const struct ring *ring, uint64_t position, size_t size, void *scratch)
{
    size_t at = (size_t)(position & (ring->size - 1)), first = (size_t)ring->size - at;
    memcpy(scratch, ring->data + at, first);
    memcpy((uint8_t *)scratch + first, ring->data, size - first);
    return scratch;
}

void ring_release(struct ring *ring, uint64_t position)
{
    ring->tail = position;
    __atomic_store_n(&ring->page->data_tail, position, __ATOMIC_RELEASE);
}

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
