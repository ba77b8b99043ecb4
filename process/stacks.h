/*
 * stacks.h - the stacks of one process's threads (internal to process/).
 *
 * A thread has its own stack and can have more (coroutines, alternate signal stacks), at most STACKS_MAX.
 * They do not overlap within a thread.
 */
#ifndef FATHOM_PROCESS_STACKS_H
#define FATHOM_PROCESS_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#define STACKS_MAX 64 /* per thread */

struct stacks;

struct stacks *stacks_new(void);         /* NULL: out of memory */
void stacks_free(struct stacks *stacks); /* NULL is allowed */
/* Makes [low, base] (low < base) a stack of the thread: it replaces those that it overlaps, but one of the
 * same base is widened. false: out of memory, or the thread has STACKS_MAX. */
bool stacks_set(struct stacks *stacks, uint32_t tid, uint64_t low, uint64_t base);
bool stacks_find(struct stacks *stacks, uint32_t tid, uint64_t sp, uint64_t *base);
bool stacks_any(const struct stacks *stacks, uint32_t tid); /* the thread has one */
void stacks_remove(struct stacks *stacks, uint32_t tid);
/* Copies a thread's stacks to a thread of another process. false: out of memory. */
bool stacks_copy(struct stacks *to, uint32_t to_tid, const struct stacks *from, uint32_t from_tid);

#endif
