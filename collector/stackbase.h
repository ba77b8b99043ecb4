/*
 * stackbase.h - the bases of all threads' stacks (DESIGN sections 1 and 4).
 *
 * The stack that a process started on: `startstack` of /proc/PID/stat, which is SP at the program's first
 * instruction; it is right only after the exec is complete, so it is asked for at a sample. Any other: the
 * slot of the return address into clone (threadroot.h), found by scanning upward from a sample's SP; base =
 * slot + 8. The end of the mapping in /proc/PID/maps is not the base: stacks merge there with their
 * neighbours.
 *
 * Told of forks and execs in order of time, and of samples in any order, it writes [stack:TID] through
 * sideband.h. A record of one round may be younger than some of the next one's (perfdata/order.h).
 */
#ifndef FATHOM_COLLECTOR_STACKBASE_H
#define FATHOM_COLLECTOR_STACKBASE_H

#include "collector/sideband.h"

struct stackbases;

int stackbases_new(struct stackbases **out, struct fathom_error *err);
void stackbases_free(struct stackbases *bases);

/* The start of a round of draining; floor: no record of it is older (ns). A thread whose start was not seen
 * is taken to be there since then. */
void stackbases_round(struct stackbases *bases, uint64_t floor);
/* A thread or process started (FORK record). */
int stackbases_fork(struct stackbases *bases, pid_t pid, pid_t tid, pid_t parent_tid, uint64_t time,
                    struct fathom_error *err);
/* A process replaced its image (COMM record of an exec): its stack is a new one. */
int stackbases_exec(struct stackbases *bases, pid_t pid, uint64_t time, const struct sideband *to,
                    struct fathom_error *err);
/* A command that was stopped at its exec told its base: goes out with the next stackbases_exec() of it. */
int stackbases_expect(struct stackbases *bases, pid_t pid, uint64_t low, uint64_t base,
                      struct fathom_error *err);
/* A sample. *base: its stack's base when known, else 0. Writes [stack:TID] when it was not known before. */
int stackbases_sample(struct stackbases *bases, pid_t pid, pid_t tid, uint64_t time, uint64_t sp,
                      const struct sideband *to, uint64_t *base, struct fathom_error *err);
/* A thread that runs already when we attach: written with time 0 where it can be known without a sample. */
int stackbases_attach(struct stackbases *bases, pid_t pid, pid_t tid, const struct sideband *to,
                      struct fathom_error *err);
/* Threads with samples whose base stayed unknown. */
uint64_t stackbases_missing(const struct stackbases *bases);

/* The lowest address that the main stack of a process may reach: by RLIMIT_STACK and the mapping below. */
uint64_t stackbase_main_low(pid_t pid, uint64_t base, const struct maps *maps);

#endif
