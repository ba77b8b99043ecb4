/*
 * stack_order.h - keeps stack records (perfdata/stack_record.h) together with their samples while rings are
 * drained.
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

/* Whether a record is a stack record or an interpreter's record, whose sample follows it. */
bool stack_order_concerns(const struct stack_order *order, const struct perf_event_header *header);
/* Whether the sample of the stack record at this position has been written. If not, leave the record for the
 * next round; only one retry is asked for. *time: the time of the sample, ns, to set in the record; 0: the
 * next record, apart from further stack records of the thread, is not its sample. */
bool stack_order_ready(const struct stack_order *order, struct ring *ring, uint64_t at, uint64_t head,
                       const struct perf_event_header *header, uint64_t *time);

#endif
