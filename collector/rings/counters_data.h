/*
 * counters_data.h - private to the files of counters.h: the events that are open.
 */
#ifndef FATHOM_COLLECTOR_RINGS_COUNTERS_DATA_H
#define FATHOM_COLLECTOR_RINGS_COUNTERS_DATA_H

#include "base/hash.h"
#include "collector/rings/counters.h"

#define LATE_TWICE (1ULL << 63)

struct counters {
    struct event *events;
    size_t event_count;
    size_t tasks; /* index of the event with the records about tasks: it owns the rings and is polled */
    size_t ring_bytes;
    bool ring_chosen; /* chosen by us, so it may be reduced */
    const struct log *log;
    int *cpus; /* online ones */
    size_t cpu_count;
    struct ring *rings; /* one per CPU */
    int *owners;        /* the descriptor that each ring belongs to; -1: none yet */
    struct opened {
        int fd, cpu; /* the CPU's number */
        size_t event;
        bool wakes; /* wakes the reader at each record */
    } * opened;
    size_t fd_count, fd_capacity;
    size_t by_cpu,
        by_cpu_count; /* the events opened by CPU, which are consecutive: the first and their number */
    size_t alive;     /* descriptors in epoll that have not hung up */
    int epoll;
    uint64_t random; /* state of vary_period() */
    int program;     /* a BPF program for the first event; -1: none */
    struct carrier {
        int fd;
        uint64_t tracepoint; /* its ID */
        int link;            /* with data about the event for the program; -1: there is none */
    } * carriers;            /* events that only attach the program to a tracepoint */
    size_t carrier_count, carrier_capacity;
    int cgroup;        /* -1: none */
    bool filtered;     /* by the program */
    struct table *ids; /* sample id to event index and, from bit 8 on, the thread it was opened for */
    /* Late threads: tid to index of the first descriptor, their number << 32, LATE_TWICE. */
    struct table *late;
};

/* Whether counters_settle() has stopped a descriptor, by its index, for good. */
bool counters_settled(const struct counters *counters, size_t at);

#endif
