/*
 * latency.h - how long calls take, by two events, both tracepoints: "entered", where functions are entered, and "latency", where they leave their frames. Readers
 * let the latter's samples weigh ns from one to the other. Calls are told apart by the process and the address of the return address, which SP has at both:
 * recursions, threads, and coroutines on other threads too.
 */
#ifndef FATHOM_PERFDATA_LATENCY_H
#define FATHOM_PERFDATA_LATENCY_H

#include "base/hash.h"
#include "perfdata/record.h"

#define EVENT_LATENCY_NAME "latency"
#define EVENT_ENTERED_NAME "entered"

/* In attr.config2, which the kernel does not look at for tracepoints. */
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
    struct table *
        open; /* return address's address and PID, hashed -> time of entry; NULL: the recording has no such events */
    uint64_t abandoned; /* calls whose end was not seen when another one began in their place */
};

/* -ENOMEM. */
int latency_begin(struct latency *latency, const struct event *events, size_t count,
                  struct fathom_error *err);
void latency_end(struct latency *latency);
/* Each sample, by time: gives it its weight. One of an end whose beginning was not seen becomes one of the event "entered". -ENOMEM. */
int latency_take(struct latency *latency, struct sample *sample, struct fathom_error *err);
/* Calls whose end was not seen: left by an exception or longjmp, or not over. */
uint64_t latency_unended(const struct latency *latency);

#endif
