/* ring.c - one mapped ring buffer; see ring.h. */
#include "collector/rings/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
