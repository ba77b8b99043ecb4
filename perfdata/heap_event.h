/*
 * heap_event.h - the events of allocations sampled by a runtime in the program (heap/runtime.c): tracepoints, whose samples
 * weigh bytes. attr.config2, which the kernel ignores for tracepoints, says which event it is, as in weight_field.h.
 */
#ifndef FATHOM_PERFDATA_HEAP_EVENT_H
#define FATHOM_PERFDATA_HEAP_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "base/hash.h"
#include "perfdata/sample.h"
#include "perfdata/weight_field.h"

enum heap_event {
    HEAP_NONE,
    HEAP_ALLOCATED, /* "allocated": the path that allocates */
    HEAP_FREED,     /* "freed": the path that frees a sampled allocation */
    HEAP_LIVE,      /* "live": allocated and not freed at the end; readers make it from both, */
    HEAP_PEAK,      /* "peak": the same for what was alive when most was */
    /* also "allocated": entries into the allocator of a running process; frees are not recorded */
    HEAP_ENTERED,
};

#define HEAP_EVENT_MARK 0x46485000u /* "FHP" */

/* Fields of their raw data, u64: the bytes that a sample represents (for HEAP_ENTERED two numbers whose product is its size), */
#define HEAP_WEIGHT_FIELD "arg1"
/* and after them: */
enum heap_field {
    HEAP_ADDRESS = 1, /* or another identifier among all live allocations; 0: its free is not recorded */
    HEAP_SIZE,        /* bytes */
};

/* mean: bytes between two samples, for HEAP_ENTERED. */
static inline void heap_event_set(struct perf_event_attr *attr, enum heap_event kind, uint32_t mean)
{
    attr->config2 = (uint64_t)mean << 32 | HEAP_EVENT_MARK | kind;
}

static inline uint32_t heap_event_mean(const struct perf_event_attr *attr)
{
    return (uint32_t)(attr->config2 >> 32);
}

static inline enum heap_event heap_event_of(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_TRACEPOINT && ((uint32_t)attr->config2 & ~7u) == HEAP_EVENT_MARK
               ? (enum heap_event)(attr->config2 & 7)
               : HEAP_NONE;
}

/* 0: not recorded. */
static inline uint64_t heap_field_of(const struct weight_field *weight, const struct sample *sample,
                                     enum heap_field number)
{
    const struct weight_field field = {(uint16_t)(weight->at + number * weight->size), weight->size, false};
    return field.size == sizeof(uint64_t) && sample->raw
               ? weight_field_in(&field, sample->raw, sample->raw_size)
               : 0;
}

/* The number of allocations of `size` bytes that make up `bytes`. The fractional part is rounded up with that probability, by
 * the time and address of one of them, so that sums are unbiased. */
static inline uint64_t heap_allocations(uint64_t bytes, uint64_t size, uint64_t time, uint64_t address)
{
    if (!size)
        return 0;
    const double rest = (double)(bytes % size) / (double)size;
    return bytes / size + ((double)(hash_u64(time + hash_u64(address)) >> 11) * 0x1p-53 < rest);
}

#endif
