/* where.h - whether the stacks of an event's samples can be compared, and where they begin. */
#ifndef FATHOM_COLLECTOR_VERIFY_WHERE_H
#define FATHOM_COLLECTOR_VERIFY_WHERE_H

#include "collector/events/pmus.h"

enum verify_where {
    VERIFY_NOWHERE,    /* the event's stacks cannot be compared */
    VERIFY_USER,       /* it happens in user mode */
    VERIFY_KERNEL,     /* in the kernel: the stack is the one from which the thread entered it (Linux 5.15) */
    VERIFY_TRACEPOINT, /* likewise */
    VERIFY_PROBE, /* a tracepoint that is a probe, of the kernel or a program, and takes a program of another type */
    VERIFY_PRECISE, /* in user mode, in a record of the CPU that the kernel reads some instructions later (Linux 5.15) */
};

/* Where a BPF program on this event finds the registers of its samples. A precise one must not be sampled in batches. */
enum verify_where verify_where_of(const struct pmus *pmus, const struct perf_event_attr *attr);

#endif
