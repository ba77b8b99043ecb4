/*
 * origins.h - where the stacks of threads begin, as unwound samples tell: with `_start` or with what clone
 * was given, and which function the thread was started with.
 *
 * A thread runs one function from its start on, so one unwound sample tells it for all others. Threads are
 * told apart by their TID and by when they began, since TIDs are used again.
 */
#ifndef FATHOM_INFER_SAMPLES_ORIGINS_H
#define FATHOM_INFER_SAMPLES_ORIGINS_H

#include "process/unwind.h"

#define ORIGIN_UNKNOWN UINT32_MAX

/* A thread's stack. */
struct origin {
    enum stack_start start;
    /* What the thread's outermost function (start_thread) called through a pointer, by the number that its
     * user gives functions; ORIGIN_UNKNOWN: no sample told, or they contradict each other. */
    uint32_t called;
};

struct origins;

struct origins *origins_new(void); /* NULL: out of memory */
void origins_free(struct origins *origins);
/* An unwound stack of the thread's own with this base, and the number of the function of the frame below the
 * outermost one (ORIGIN_UNKNOWN: there is none). false: out of memory. */
bool origins_learn(struct origins *origins, const struct process *process, uint32_t tid,
                   const struct unwind_frame *outermost, uint64_t base, uint32_t called);
/* What is known of the thread; else what its process tells. */
struct origin origins_of(const struct origins *origins, const struct process *process, uint32_t tid);

#endif
