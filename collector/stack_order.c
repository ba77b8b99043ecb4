/* stack_order.c - see stack_order.h. */
#include "collector/stack_order.h"

#include <string.h>

#include "collector/rings/records.h"

bool stack_order_concerns(const struct stack_order *order, const struct perf_event_header *header)
{
    struct sample_record start;
    if (header->type != PERF_RECORD_SAMPLE || header->size < sizeof start)
        return false;
    memcpy(&start, header, sizeof start);
    size_t event = counters_event(order->counters, start.id);
    return event < order->event_count && order->events[event].stacks;
}

/* A sample is at most so much later than its stack record. A tracepoint's is the later one, and a hypervisor may have the CPU in
 * between: with two busy ones, for 0.1 to 0.4 ms at one sample in 20,000. */
#define PAIR_NS            100000u
#define PAIR_TRACEPOINT_NS 20000000u

/* A stack record stands before its sample, but was written about a microsecond later (at a tracepoint, earlier): it
 * is to get the sample's time, so that sorting keeps the two together. Returns that; 0: the next record, at `at`, is
 * not the sample. */
static uint64_t sample_time(const struct stack_order *order, const struct ring *ring, uint64_t at,
                            uint64_t head, const struct sample_record *stack)
{
    struct sample_record scratch, next;
    if (head - at < sizeof next)
        return 0;
    memcpy(&next, ring_view(ring, at, sizeof next, &scratch), sizeof next);
    size_t event = counters_event(order->counters, next.id);
    if (next.header.type != PERF_RECORD_SAMPLE || next.tid != stack->tid || event >= order->event_count ||
        order->events[event].audit || order->events[event].stacks)
        return 0;
    const bool is_late = order->events[event].attr.type == PERF_TYPE_TRACEPOINT;
    return next.time < stack->time + (is_late ? PAIR_TRACEPOINT_NS : PAIR_NS) ? next.time : 0;
}

bool stack_order_ready(const struct stack_order *order, struct ring *ring, uint64_t at, uint64_t head,
                       const struct perf_event_header *header, uint64_t *time)
{
    struct sample_record start;
    memcpy(&start, header, sizeof start);
    if (at + header->size == head && ring->waited != at) {
        ring->waited = at;
        return false;
    }
    *time = sample_time(order, ring, at + header->size, head, &start);
    return true;
}
