/*
 * shared_stacks.h - the stacks of a recording that belong to no thread (coroutines', alternate signal
 * stacks): where they lie, and when each was seen there (internal to infer/).
 *
 * Memory is used again: at one address there may be several stacks over time, of which the one that was seen
 * nearest in time counts.
 */
#ifndef FATHOM_INFER_BASES_SHARED_STACKS_H
#define FATHOM_INFER_BASES_SHARED_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_stack {
    uint32_t pid;
    uint64_t low, base;   /* low: the lowest SP that is known to be on it */
    uint64_t first, last; /* ns: when it was seen; the whole of time when votes told of it */
};

struct shared_stacks;

struct shared_stacks *shared_stacks_new(void); /* NULL: out of memory */
void shared_stacks_free(struct shared_stacks *stacks);
/* It was seen then, with SP at low (below base). false: out of memory. */
bool shared_stacks_see(struct shared_stacks *stacks, uint32_t pid, uint64_t low, uint64_t base,
                       uint64_t time);
/* The same for one that is there all the time. */
bool shared_stacks_add(struct shared_stacks *stacks, uint32_t pid, uint64_t low, uint64_t base);
/* The stack that sp is on; NULL when none is known. Good until another is added. */
const struct shared_stack *shared_stacks_find(struct shared_stacks *stacks, uint32_t pid, uint64_t sp,
                                              uint64_t time);
/* Those of a process in order of their bases, with those of one base as one; low may be lowered. Good until
 * another is added. */
size_t shared_stacks_of(struct shared_stacks *stacks, uint32_t pid, struct shared_stack **out);

#endif
