/*
 * collector_data.h - private to the files of collector/ itself: a collection.
 */
#ifndef FATHOM_COLLECTOR_COLLECTOR_DATA_H
#define FATHOM_COLLECTOR_COLLECTOR_DATA_H

#include "collector/collector.h"
#include "collector/cpu_use.h"
#include "collector/drain.h"
#include "collector/targets/cgroup.h"
#include "collector/targets/launch.h"
#include "image/kernel/running.h"

/* The adaptive clocks. The fast one's dumps are small: a dump occupies its full size in the ring until
 * drained, and ordinary users may have rings of only 512 KiB. 94 to 100% of the stacks of cc1, lua, perl,
 * python, redis and sqlite fit into 16 KiB; only half of sqlite's fit into 8 KiB. At most half of a ring is
 * filled in the time by which the recorder may be late. */
#define FAST_HZ    1000
#define FAST_STACK 16384u
#define LATE_S     0.03
/* With a copy in each sample: as many of FAST_STACK as half of an ordinary user's ring (512 KiB) holds in
 * LATE_S. */
#define COPIED_HZ 500

struct process {
    pid_t pid;
    pid_t tid;             /* only this thread; 0: all */
    bool refused;          /* not recorded, because another user owns it */
    uint64_t user, kernel; /* its CPU time when we attached to it, ticks */
};

struct collector {
    const struct collector_options *options; /* borrowed */
    /* Requested events, the main one first; then stacks or audit clocks or both; then the task event, if
     * recording by CPU or if the main event is not on every CPU. */
    struct event events[COLLECTOR_EVENTS];
    size_t event_count;
    size_t opened;  /* number opened: the last event may be one whose records are made here */
    size_t asked;   /* number requested, with their helper events */
    size_t stacks;  /* index; 0: none */
    size_t tasks;   /* index of the event that carries task and mapping records */
    size_t cgroups; /* index of the event that reports new cgroups; 0: none */
    size_t first_clock, clock_count; /* among the events: those with a rate that can be set */
    double clock_hz[COLLECTOR_CLOCKS];
    size_t first_trigger, trigger_count;   /* among the events: those that are only counted */
    uint64_t trigger_most, trigger_before; /* per interval; the count when it began */
    struct probes *probes;                 /* probes defined by the events' names */
    struct counters *counters;
    struct decoder *decoder;
    struct stackbases *bases;
    struct process *processes; /* attached */
    size_t process_count, process_capacity;
    struct launch launch;
    /* Collector whose events are to be stopped when ours are started; NULL: none
     * (collector_hand_over()). */
    struct collector *before;
    struct running_kernel *kernel; /* NULL: the kernel is not sampled */
    struct batch batch;
    struct sideband to;
    struct drain drain;
    bool by_cpu;                 /* the main event is opened by CPU */
    bool wide;                   /* by CPU and for all processes there: everyone, or a cgroup's */
    bool filtered;               /* the BPF program drops samples from outside of the cgroup */
    struct cgroup cgroup;        /* fd -1: none */
    struct members *members;     /* NULL: not by CPU, or for everyone */
    struct verify *verify;       /* NULL: stacks are not compared */
    struct script_poll *scripts; /* polls interpreter frames instead; NULL: none */
    struct waits *waits;         /* NULL: waits are not recorded */
    bool copied;                 /* stacks are not compared: each sample of the main event has a copy */
    uint64_t vary_at[COLLECTOR_EVENTS]; /* sample count of an event at which its periods change */
    struct cpu_uses uses;               /* filled at the end */
    int new_rounds;                     /* short polling rounds left */
    struct collector_summary summary;
};

/* Chooses the events from the options: the main one, how it is opened, and how stacks are obtained. */
int collector_prepare(struct collector *collector, struct fathom_error *err);

#endif
