/*
 * stack_order.h - keeps stack records (perfdata/stack_record.h) beside their samples while rings are drained.
 */
#ifndef FATHOM_COLLECTOR_STACK_ORDER_H
#define FATHOM_COLLECTOR_STACK_ORDER_H

#include <stdbool.h>

#include "collector/rings/counters.h"

/* All borrowed. */
struct stack_order {
    const struct counters *counters;
    const struct event *events;
    size_t event_count;
};

/* Whether a record is a stack record, or what an interpreter runs: its sample comes behind it. */
bool stack_order_concerns(const struct stack_order *order, const struct perf_event_header *header);
/* Whether the sample of the stack record at this position is there. Else the record is to be left for the next round;
 * it is asked for once. *time: the sample's, ns, which the record is to get; 0: the next record, but for further stack records of
 * the thread, is not its sample. */
bool stack_order_ready(const struct stack_order *order, struct ring *ring, uint64_t at, uint64_t head,
                       const struct perf_event_header *header, uint64_t *time);

#endif
