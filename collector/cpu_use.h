/*
 * cpu_use.h - private to the collector: the CPU time that each process used while it was recorded, from
 * /proc, which does not have the limits of events.
 */
#ifndef FATHOM_COLLECTOR_CPU_USE_H
#define FATHOM_COLLECTOR_CPU_USE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;
struct process;

/* CPU time of a process that still runs, or of one of its threads. */
struct cpu_use {
    pid_t pid;             /* or TID, if threads are recorded */
    char name[32];         /* the process's comm */
    uint64_t user, kernel; /* ticks (sysconf(_SC_CLK_TCK) a second) */
};

struct cpu_uses {
    struct cpu_use *list; /* owned */
    size_t count, capacity;
};

/* Notes the CPU time that a process used before the recording. */
void cpu_use_begin(struct process *process);
/* After the events are stopped: reads the CPU time of everything recorded that still runs. Of ended
 * processes only the launched command's is known (struct launch). Unreadable entries are left out. *out:
 * empty before. */
void cpu_use_read(const struct collector *collector, struct cpu_uses *out);

#endif
