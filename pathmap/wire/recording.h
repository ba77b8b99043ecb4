/*
 * recording.h - what the probe runtime should record of calls, as passed in the mailbox (mail.h).
 */
#ifndef FATHOM_PATHMAP_WIRE_RECORDING_H
#define FATHOM_PATHMAP_WIRE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

/* Which nodes of a limited tree have a weight. */
enum record_counter {
    RECORD_PURGE, /* all; from time to time a part is subtracted from all of them (pathmap/probe/purge.c) */
    RECORD_LSS,   /* 1/eps of them; this and the following: pathmap/probe/counters.c */
    RECORD_BSS,
    RECORD_LC,
    RECORD_STICKY
};

/* Zeros: every path with its number of entries. */
struct recording {
    uint32_t log_calls;   /* 1: each process also logs its calls (call_log.h) */
    uint32_t weigh_ticks; /* 1: a node's count is time instead of entries (store.h) */
    /* Nodes that a thread's tree may have before those of little weight are removed (store.h); 0: no limit. */
    uint32_t node_limit;
    /* Not 0: in a context known from another burst, one begins only once in so many times, and counts for as
     * many. UINT32_MAX: never. */
    uint32_t once_in;
    /* Calls are counted in bursts of burst_ns, one of which begins every interval_ns; 0, 0: all the time. */
    uint64_t burst_ns, interval_ns;
    uint32_t counter;    /* enum record_counter; with a node_limit */
    uint32_t counters;   /* 1/eps; above 0 except for RECORD_PURGE */
    uint64_t sticky_t;   /* RECORD_STICKY: 1/eps * log(1/(phi * delta)) */
    uint64_t on_request; /* not 0: instead, the trainer starts and ends bursts (mail.h, turns) */
};
_Static_assert(sizeof(struct recording) == 56, "no padding");

static inline bool recording_has_bursts(const struct recording *r)
{
    return (r->burst_ns && r->interval_ns > r->burst_ns) || r->on_request;
}

#endif
