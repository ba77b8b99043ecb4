/*
 * latency.h - how long calls take, from two events, both tracepoints: "entered" at functions' entries, and "latency" where they
 * leave their frames. Readers make the latter's samples weigh the ns between the two. Calls are identified by the process and
 * the address at which the return address is stored, which is SP at both: this distinguishes recursions, threads, and
 * coroutines that change threads.
 */
#ifndef FATHOM_PERFDATA_LATENCY_H
#define FATHOM_PERFDATA_LATENCY_H

#include "base/hash.h"
#include "perfdata/record.h"

#define EVENT_LATENCY_NAME "latency"
#define EVENT_ENTERED_NAME "entered"

/* In attr.config2, which the kernel ignores for tracepoints. */
enum latency_event {
    LATENCY_NONE,
    LATENCY_ENTERED = 0x464c5401, /* "FLT" */
    LATENCY_LEFT,
};

static inline enum latency_event latency_event_of(const struct perf_event_attr *attr)
{
    const bool is = attr->type == PERF_TYPE_TRACEPOINT &&
                    (attr->config2 == LATENCY_ENTERED || attr->config2 == LATENCY_LEFT);
    return is ? (enum latency_event)attr->config2 : LATENCY_NONE;
}

struct latency {
    uint32_t entered, left; /* indices of the events */
    /* hash of the return address's address and PID -> time of entry; NULL: the recording has no such events */
    struct table *open;
    uint64_t abandoned; /* calls whose end was not seen before another call began in their place */
};

/* -ENOMEM. */
int latency_begin(struct latency *latency, const struct event *events, size_t count,
                  struct fathom_error *err);
void latency_end(struct latency *latency);
/* Takes each sample in time order, and sets its weight. The end of a call whose beginning was not seen becomes a sample of
 * "entered". -ENOMEM. */
int latency_take(struct latency *latency, struct sample *sample, struct fathom_error *err);
/* The number of calls whose end was not seen: left by an exception or longjmp, or not over. */
uint64_t latency_unended(const struct latency *latency);

#endif
