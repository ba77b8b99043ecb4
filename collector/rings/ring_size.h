/*
 * ring_size.h - how large a ring the events need, and how large it may be.
 */
#ifndef FATHOM_COLLECTOR_RINGS_RING_SIZE_H
#define FATHOM_COLLECTOR_RINGS_RING_SIZE_H

#include <stdint.h>

#include "perfdata/record.h"

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
