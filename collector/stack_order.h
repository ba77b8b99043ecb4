/*
 * stack_order.h - keeps stack records (perfdata/stack_record.h) beside their samples while rings are drained.
 */
#ifndef FATHOM_COLLECTOR_STACK_ORDER_H
#define FATHOM_COLLECTOR_STACK_ORDER_H

#include "collector/drain.h"

struct sample_record { /* as event.c asks for it */
    struct perf_event_header header;
    uint64_t id, ip;
    uint32_t pid, tid;
    uint64_t time;
};

/* Whether a record is a stack record. */
bool stack_order_concerns(const struct drain *drain, const struct perf_event_header *header);
/* Whether the sample of the stack record at this position is not there yet, so that it is left for the next round;
 * else notes the sample's time (drain.h). */
bool stack_order_wait(struct drain *drain, struct ring *ring, uint64_t at, uint64_t head,
                      const struct perf_event_header *header);

#endif
