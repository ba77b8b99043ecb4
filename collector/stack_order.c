/* stack_order.c - see stack_order.h. */
#include "collector/stack_order.h"

#include <limits.h>
#include <string.h>

#include "collector/rings/records.h"
#include "collector/verify/verify_wire.h"
#include "perfdata/script_record.h"
#include "perfdata/stack_record.h"

/* Maximum records before a sample, besides its stack record: interpreter records, and more of the stack. */
#define BEFORE_MOST (SCRIPT_CODES_MOST + 1 + STACK_RECORD_MORES)

/* The beginning of a sample, with the raw data if it is of the event of stacks. */
struct head {
    struct sample_record start;
    uint32_t raw_size, magic;
};

/* Whether its sample follows it: not for a record about a wait, which is complete and follows its own stack
 * record. */
static bool has_sample(const struct stack_order *order, const struct head *head)
{
    const size_t event = counters_event(order->counters, head->start.id);
    return event < order->event_count && order->events[event].stacks && head->magic != WAIT_RECORD_MAGIC &&
           head->magic != WAKER_RECORD_MAGIC;
}

bool stack_order_concerns(const struct stack_order *order, const struct perf_event_header *header)
{
    struct head head;
    return header->type == PERF_RECORD_SAMPLE && record_view(header, header->size, &head, sizeof head) &&
           has_sample(order, &head);
}

/* Maximum time between a stack record and its sample. A tracepoint's stack record is the later one, and a
 * hypervisor may take the CPU in between: with two busy CPUs, for 0.1 to 0.4 ms at one sample in 20,000. */
#define PAIR_NS            100000u
#define PAIR_TRACEPOINT_NS 20000000u

/* From the end of a thread's stack record, skips further records about the thread to what may be its sample.
 * *at: where that is; the ring's head: not there yet. Returns the number of skipped records, or UINT_MAX:
 * something else comes next. */
static unsigned find_sample(const struct stack_order *order, const struct ring *ring, uint64_t head,
                            uint32_t tid, uint64_t *at, struct sample_record *next)
{
    struct head seen, scratch;
    for (unsigned passed = 0; passed <= BEFORE_MOST; passed++) {
        if (head - *at < sizeof seen)
            return passed;
        memcpy(&seen, ring_view(ring, *at, sizeof seen, &scratch), sizeof seen);
        *next = seen.start;
        if (next->header.type != PERF_RECORD_SAMPLE || next->tid != tid)
            return UINT_MAX;
        if (!has_sample(order, &seen))
            return passed;
        *at += next->header.size;
    }
    return UINT_MAX;
}

/* A stack record precedes its sample, but was written about a microsecond later (at a tracepoint, earlier):
 * it gets the sample's time, so that sorting keeps the two together. */
bool stack_order_ready(const struct stack_order *order, struct ring *ring, uint64_t at, uint64_t head,
                       const struct perf_event_header *header, uint64_t *time)
{
    struct sample_record start, next;
    uint64_t next_at = at + header->size;
    memcpy(&start, header, sizeof start);
    const unsigned passed = find_sample(order, ring, head, start.tid, &next_at, &next);
    *time = 0;
    if (next_at == head && ring->waited != at) {
        ring->waited = at;
        return false;
    }
    if (passed == UINT_MAX || head - next_at < sizeof(struct head))
        return true;
    const size_t event = counters_event(order->counters, next.id);
    if (event >= order->event_count || order->events[event].audit || order->events[event].stacks)
        return true;
    const bool is_late = order->events[event].attr.type == PERF_TYPE_TRACEPOINT;
    const uint64_t most = is_late ? PAIR_TRACEPOINT_NS : (passed + UINT64_C(1)) * PAIR_NS;
    if (next.time < start.time + most)
        *time = next.time;
    return true;
}
