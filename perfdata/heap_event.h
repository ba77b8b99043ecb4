/*
 * heap_event.h - the events of allocations that a program's runtime samples (heap/runtime.c): tracepoints, whose samples weigh bytes. Which one of them is
 * kept in attr.config2, which the kernel does not look at for tracepoints, as weight_field.h does.
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
    HEAP_FREED,     /* "freed": the path that frees what was sampled */
    HEAP_LIVE,      /* "live": of the allocated, what is not freed at the end; readers make it of both, */
    HEAP_PEAK,      /* "peak": and this, of what was alive when most was */
    HEAP_ENTERED, /* "allocated", too: where the allocator of a process that runs is entered; it is not told what is freed */
};

#define HEAP_EVENT_MARK 0x46485000u /* "FHP" */

/* Fields of their raw data, u64: the bytes that a sample stands for, of HEAP_ENTERED two whose product is its size, */
#define HEAP_WEIGHT_FIELD "arg1"
/* and behind them: */
enum heap_field {
    HEAP_ADDRESS = 1, /* or what else tells it from all that live; 0: it is not told when that is freed */
    HEAP_SIZE,        /* bytes */
};

/* mean: bytes between two samples, of HEAP_ENTERED. */
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

/* 0: it is not told. */
static inline uint64_t heap_field_of(const struct weight_field *weight, const struct sample *sample,
                                     enum heap_field number)
{
    const struct weight_field field = {(uint16_t)(weight->at + number * weight->size), weight->size, false};
    return field.size == sizeof(uint64_t) && sample->raw
               ? weight_field_in(&field, sample->raw, sample->raw_size)
               : 0;
}

/* How many allocations of `size` bytes those are that weigh `bytes`: what is not whole is one with that probability, by the time and place of one of them, so
 * that sums stay unbiased. */
static inline uint64_t heap_allocations(uint64_t bytes, uint64_t size, uint64_t time, uint64_t address)
{
    if (!size)
        return 0;
    const double rest = (double)(bytes % size) / (double)size;
    return bytes / size + ((double)(hash_u64(time + hash_u64(address)) >> 11) * 0x1p-53 < rest);
}

#endif
