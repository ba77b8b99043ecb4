/* where.h - whether the stacks of an event's samples can be compared, and how the program gets their
 * registers. */
#ifndef FATHOM_COLLECTOR_VERIFY_WHERE_H
#define FATHOM_COLLECTOR_VERIFY_WHERE_H

#include "collector/events/pmus.h"

enum verify_where {
    VERIFY_NOWHERE, /* the event's stacks cannot be compared */
    VERIFY_USER,    /* it happens in user mode */
    VERIFY_KERNEL,  /* in the kernel: the stack with which the thread entered it is compared (Linux 5.15) */
    VERIFY_TRACEPOINT, /* likewise */
    VERIFY_PROBE,      /* a tracepoint of a kprobe or uprobe: takes a program of another type */
    /* In user mode, in a record of the CPU that the kernel reads some instructions later (Linux 5.15). */
    VERIFY_PRECISE,
};

/* Where a BPF program on this event finds the registers of a sample. A precise event must not be sampled in
 * batches. */
enum verify_where verify_where_of(const struct pmus *pmus, const struct perf_event_attr *attr);

#endif
