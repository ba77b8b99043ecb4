/*
 * ring.h - one ring buffer that the kernel fills (perf_event_open(2), "MMAP layout"), and how large it may be.
 *
 * Single reader: records between `tail` and the head returned by ring_head() are ours until ring_release().
 * Positions are byte counts since the start; they never wrap (64 bits).
 */
#ifndef FATHOM_COLLECTOR_RINGS_RING_H
#define FATHOM_COLLECTOR_RINGS_RING_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/record.h"

struct ring {
    struct perf_event_mmap_page *page; /* NULL: not mapped */
    const uint8_t *data;
    int cpu;       /* its number */
    uint64_t size; /* bytes of data, a power of two of pages */
    uint64_t tail; /* our own copy of data_tail */
    uint64_t head; /* end of the current round (drain.c) */
    /* position of the stack record whose sample was waited for (stack_order.c); UINT64_MAX: none */
    uint64_t waited;
    uint64_t ahead; /* how far beyond `head` new processes were looked for (drain.c) */
};

/* Maps the ring of an event's file descriptor. 0 or a negative errno (-EPERM, -ENOMEM: too large). */
int ring_map(struct ring *ring, int fd, size_t bytes);
void ring_unmap(struct ring *ring);
/* The position after the last complete record. */
uint64_t ring_head(const struct ring *ring);
/* How many bytes of stacks may still be written: they may fill at most three quarters; below 0: none. */
int64_t ring_stack_room(const struct ring *ring);
/* `size` bytes that wrap around the ring's end, copied to `scratch`. */
const void *ring_join(const struct ring *ring, uint64_t position, size_t size, void *scratch);

/* `size` contiguous bytes from a position: in the ring itself or, if they wrap around its end, copied to
 * `scratch` (of at least that size). 8-byte aligned if scratch is. */
static inline const void *ring_view(const struct ring *ring, uint64_t position, size_t size, void *scratch)
{
    size_t at = (size_t)(position & (ring->size - 1));
    return ring->size - at >= size ? ring->data + at : ring_join(ring, position, size, scratch);
}

/* Returns all bytes before `position` to the kernel. */
void ring_release(struct ring *ring, uint64_t position);

#define RING_PLAIN    (512u << 10) /* what perf_event_mlock_kb allows every user per CPU */
#define RING_MLOCK_KB 516          /* the kernel's default of that, KiB */
/* With stack records: for 200 processes that start at once, until we run again; also with fast clocks. */
#define RING_STACKS (2u << 20)

/* Maximum bytes of each CPU's ring with its first page, if all are of the same size (kernel/events/core.c,
 * perf_mmap): from kernel.perf_event_mlock_kb for each CPU, and the process's limit of locked memory (bytes,
 * or UINT64_MAX) for all. CAP_IPC_LOCK lifts the limit. */
uint64_t ring_room(long mlock_kb, uint64_t locked, size_t cpus);

/* Bytes of each CPU's ring: a power of two of pages. The main event comes first. */
size_t ring_size(const struct event *events, size_t count, size_t cpus);

#endif
