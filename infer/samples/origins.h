/*
 * origins.h - where the stacks of threads begin, from unwound samples: with `_start` or with the function
 * passed to clone, and which function the thread was started with.
 *
 * A thread runs the same function from its start, so one unwound sample is enough for all others. Threads are
 * identified by their TID and start time, since TIDs are reused.
 */
#ifndef FATHOM_INFER_SAMPLES_ORIGINS_H
#define FATHOM_INFER_SAMPLES_ORIGINS_H

#include "process/unwind.h"

#define ORIGIN_UNKNOWN UINT32_MAX

/* A thread's stack. */
struct origin {
    enum stack_start start;
    /* What the thread's outermost function (start_thread) called through a pointer, in the caller's numbering
     * of functions; ORIGIN_UNKNOWN: no sample showed it, or they contradict each other. */
    uint32_t called;
};

struct origins;

struct origins *origins_new(void); /* NULL: out of memory */
void origins_free(struct origins *origins);
/* Notes an unwound stack of the thread's own with this base, and the number of the function below the
 * outermost frame (ORIGIN_UNKNOWN: none). false: out of memory. */
bool origins_learn(struct origins *origins, const struct process *process, uint32_t tid,
                   const struct unwind_frame *outermost, uint64_t base, uint32_t called);
/* What is known about the thread, or else about its process. */
struct origin origins_of(const struct origins *origins, const struct process *process, uint32_t tid);

#endif
