/*
 * stackbase.h - finds the bases of all threads' stacks.
 *
 * The base of a process's first stack is `startstack` of /proc/PID/stat: SP at the program's first instruction.
 * It is right only once the exec is complete, so it is read at a sample. For other stacks, the slot of the
 * return address into clone (threadroot.h) is searched for upwards from a sample's SP; base = slot + 8. The end
 * of the mapping in /proc/PID/maps is not the base, as a stack's mapping may be merged with its neighbours.
 *
 * The caller reports forks and execs in order of time, and samples in any order; [stack:TID] mappings are
 * written through sideband.h. A record of one round may be later than some records of the next
 * (perfdata/order.h).
 */
#ifndef FATHOM_COLLECTOR_TARGETS_STACKBASE_H
#define FATHOM_COLLECTOR_TARGETS_STACKBASE_H

#include "collector/targets/sideband.h"
#include "perfdata/sample.h"

struct stackbases;

int stackbases_new(struct stackbases **out, struct fathom_error *err);
void stackbases_free(struct stackbases *bases);

/* Starts a round of draining. floor: no record of the round is older (ns). A thread whose start was not seen is
 * taken to have started then. */
void stackbases_round(struct stackbases *bases, uint64_t floor);
/* A thread or process started (FORK record). */
int stackbases_fork(struct stackbases *bases, pid_t pid, pid_t tid, pid_t parent_tid, uint64_t time,
                    struct fathom_error *err);
/* A process replaced its image (COMM record of an exec): its stack is a new one. */
int stackbases_exec(struct stackbases *bases, pid_t pid, uint64_t time, const struct sideband *to,
                    struct fathom_error *err);
/* A command that was stopped at its exec has this base: stackbases_exec() will write it. */
int stackbases_expect(struct stackbases *bases, pid_t pid, uint64_t low, uint64_t base,
                      struct fathom_error *err);
/* A sample. *base: its stack's base, or 0 if unknown. Writes [stack:TID] when the base becomes known. */
int stackbases_sample(struct stackbases *bases, const struct sample *sample, const struct sideband *to,
                      uint64_t *base, struct fathom_error *err);
/* A thread that is already running when we attach: its stack is written with time 0, if its base can be found
 * without a sample. */
int stackbases_attach(struct stackbases *bases, pid_t pid, pid_t tid, const struct sideband *to,
                      struct fathom_error *err);
/* The current base of the stack that sp is on, in a running process. ip: in the code that runs on it, 0:
 * unknown. Returns 0 if not found. */
uint64_t stackbases_find(struct stackbases *bases, pid_t pid, uint64_t ip, uint64_t sp);
/* Threads with samples whose base stayed unknown. */
uint64_t stackbases_missing(const struct stackbases *bases);

/* The lowest address that a process's main stack may reach, given RLIMIT_STACK and the mapping below it. */
uint64_t stackbase_main_low(pid_t pid, uint64_t base, const struct maps *maps);

#endif
