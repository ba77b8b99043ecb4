/*
 * heap_event.h - the events of allocations that a program's runtime samples (heap/runtime.c): tracepoints, whose samples weigh bytes. Which one of them is
 * kept in attr.config2, which the kernel does not look at for tracepoints, as weight_field.h does.
 */
#ifndef FATHOM_PERFDATA_HEAP_EVENT_H
#define FATHOM_PERFDATA_HEAP_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>

enum heap_event {
    HEAP_NONE,
    HEAP_ALLOCATED, /* "allocated": the path that allocates */
    HEAP_FREED,     /* "freed": the path that frees what was sampled */
    HEAP_LIVE,      /* "live": of the allocated, what is not freed at the end; readers make it of both */
};

#define HEAP_EVENT_MARK UINT64_C(0x46485000) /* "FHP" */

/* Fields of their raw data: the bytes that a sample stands for, and behind them the address; 0: it is not told when that is freed. */
#define HEAP_WEIGHT_FIELD "arg1"

static inline void heap_event_set(struct perf_event_attr *attr, enum heap_event kind)
{
    attr->config2 = HEAP_EVENT_MARK | kind;
}

static inline enum heap_event heap_event_of(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_TRACEPOINT && (attr->config2 & ~UINT64_C(3)) == HEAP_EVENT_MARK
               ? (enum heap_event)(attr->config2 & 3)
               : HEAP_NONE;
}

#endif
