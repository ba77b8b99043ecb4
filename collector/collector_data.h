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

/* The clocks that adapt. The fast one's dumps are small: a dump takes up its whole size in the ring until it is drained,
 * and ordinary users may have rings of 512 KiB only. Into 16 KiB fit 94 to 100% of the stacks of cc1, lua, perl, python,
 * redis and sqlite; into 8 KiB, half of sqlite's. At most half of a ring is filled in the time that the recorder may come
 * late. */
#define FAST_HZ    1000
#define FAST_STACK 16384u
#define LATE_S     0.03
/* Copies with each sample: as many of FAST_STACK as half of an ordinary user's ring (512 KiB) has room for in LATE_S. */
#define COPIED_HZ 500

struct process {
    pid_t pid;
    pid_t tid;             /* only this thread; 0: all */
    bool refused;          /* not recorded, as it is another user's */
    uint64_t user, kernel; /* its CPU time when it was attached to, ticks */
};

struct collector {
    const struct collector_options *options; /* borrowed */
    struct event events
        [COLLECTOR_EVENTS]; /* those asked for, the main one first; stacks, or audit clocks, or both; the one for tasks,
                               if by CPU or if the main one is not on every CPU */
    size_t event_count;
    size_t opened;                   /* of those: the last one may be one of records that are made here */
    size_t asked;                    /* how many were asked for, with their helpers */
    size_t stacks;                   /* index; 0: none */
    size_t tasks;                    /* index of the one that carries the records about tasks and mappings */
    size_t cgroups;                  /* index of the one that tells of new cgroups; 0: none */
    size_t first_clock, clock_count; /* among the events: those whose rate can be set */
    double clock_hz[COLLECTOR_CLOCKS];
    size_t first_trigger, trigger_count;   /* among the events: those that are counted only */
    uint64_t trigger_most, trigger_before; /* in an interval; what they had counted when it began */
    struct probes *probes;                 /* those that the events' names define */
    struct counters *counters;
    struct decoder *decoder;
    struct stackbases *bases;
    struct process *processes; /* attached */
    size_t process_count, process_capacity;
    struct launch launch;
    struct collector *
        before; /* whose events are to be stopped when these are started; NULL: none (collector_hand_over()) */
    struct running_kernel *kernel; /* NULL: it is not sampled */
    struct batch batch;
    struct sideband to;
    struct drain drain;
    bool by_cpu;                        /* the main event is counted by CPU */
    bool wide;                          /* likewise, and for all processes there: everyone, or a cgroup's */
    bool filtered;                      /* the program leaves out samples from outside of the cgroup */
    struct cgroup cgroup;               /* fd -1: none */
    struct members *members;            /* NULL: not by CPU, or for everyone */
    struct verify *verify;              /* NULL: stacks are not compared, */
    struct script_poll *scripts;        /* and what interpreters run is read by this */
    struct waits *waits;                /* NULL: not asked for */
    bool copied;                        /* but each sample of the main event has a copy of its own */
    uint64_t vary_at[COLLECTOR_EVENTS]; /* samples of an event at which its periods change */
    struct cpu_uses uses;               /* at the end */
    int new_rounds;                     /* remaining short rounds */
    struct collector_summary summary;
};

/* Chooses the events, from the options: the main one, how it is counted, and how stacks are known. */
int collector_prepare(struct collector *collector, struct fathom_error *err);

#endif
