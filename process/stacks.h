/*
 * stacks.h - the stacks of one process (internal to process/).
 *
 * A thread has a stack of its own. Others (coroutines', alternate signal stacks) belong to whichever thread
 * runs on them: they are listed under STACKS_SHARED instead of a TID. Each list has at most STACKS_MAX
 * entries, which do not overlap.
 */
#ifndef FATHOM_PROCESS_STACKS_H
#define FATHOM_PROCESS_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#define STACKS_MAX    16384 /* per list */
#define STACKS_SHARED 0     /* no thread of a program has this TID */

struct stacks;

struct stacks *stacks_new(void);         /* NULL: out of memory */
void stacks_free(struct stacks *stacks); /* NULL is allowed */
/* Makes [low, base] (low < base) a stack of the thread: it replaces those in its list that it overlaps, but
 * one with the same base is widened. A full list, and one of a thread that has ended, is cleared first. false: out of memory. */
bool stacks_set(struct stacks *stacks, uint32_t tid, uint64_t low, uint64_t base);
/* Adds a stack that begins at base and whose end is unknown: it is assumed to reach `reach` bytes below base,
 * or to the next stack. A stack that contains base ends there. Does nothing if the base is already known.
 * false: out of memory. */
bool stacks_begin(struct stacks *stacks, uint32_t tid, uint64_t base, uint64_t reach);
bool stacks_find(struct stacks *stacks, uint32_t tid, uint64_t sp, uint64_t *base);
bool stacks_any(const struct stacks *stacks, uint32_t tid); /* whether the thread has one */
/* The thread has ended: its stacks stay until they are dropped, or another thread gets its TID. */
void stacks_end(struct stacks *stacks, uint32_t tid);
/* Drops them, unless stacks_set() has set another one since. */
void stacks_forget_ended(struct stacks *stacks, uint32_t tid);
/* Copies a thread's stacks to a thread of another process. false: out of memory. */
bool stacks_copy(struct stacks *to, uint32_t to_tid, const struct stacks *from, uint32_t from_tid);

#endif
