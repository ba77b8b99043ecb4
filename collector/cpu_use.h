/*
 * cpu_use.h - private to the collector: the CPU time that each process used while it was recorded. It is that of /proc,
 * which has no event's limits.
 */
#ifndef FATHOM_COLLECTOR_CPU_USE_H
#define FATHOM_COLLECTOR_CPU_USE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;
struct process;

/* Of a process that still runs, or of one of its threads. */
struct cpu_use {
    pid_t pid;             /* or TID, if threads are recorded */
    char name[32];         /* as the process calls itself */
    uint64_t user, kernel; /* ticks (sysconf(_SC_CLK_TCK) a second) */
};

struct cpu_uses {
    struct cpu_use *list; /* owned */
    size_t count, capacity;
};

/* Notes what a process has used before. */
void cpu_use_begin(struct process *process);
/* Once the events are stopped: of all that is followed and runs. What ended is known of the launched command alone
 * (struct launch). What cannot be read is left out. *out: empty before. */
void cpu_use_read(const struct collector *collector, struct cpu_uses *out);

#endif
