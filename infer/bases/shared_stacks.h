/*
 * shared_stacks.h - the stacks of a recording that belong to no thread (of coroutines, alternate signal stacks): where they
 * are, and when each was seen there (internal to infer/).
 *
 * Memory is reused: several stacks may follow each other at one address. The one seen nearest in time counts.
 */
#ifndef FATHOM_INFER_BASES_SHARED_STACKS_H
#define FATHOM_INFER_BASES_SHARED_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_stack {
    uint32_t pid;
    uint64_t low, base;   /* low: the lowest SP known to be on it */
    uint64_t first, last; /* ns: first and last time it was seen; all time if it was found by voting */
};

struct shared_stacks;

struct shared_stacks *shared_stacks_new(void); /* NULL: out of memory */
void shared_stacks_free(struct shared_stacks *stacks);
/* Notes that the stack was seen at this time, with SP at low (below base). false: out of memory. */
bool shared_stacks_see(struct shared_stacks *stacks, uint32_t pid, uint64_t low, uint64_t base,
                       uint64_t time);
/* The same for a stack that exists all the time. */
bool shared_stacks_add(struct shared_stacks *stacks, uint32_t pid, uint64_t low, uint64_t base);
/* The stack that sp is on; NULL: unknown. Valid until another is added. */
const struct shared_stack *shared_stacks_find(struct shared_stacks *stacks, uint32_t pid, uint64_t sp,
                                              uint64_t time);
/* The stacks of a process by base, after merging those with equal bases; the caller may lower `low`. Valid until another is
 * added. */
size_t shared_stacks_of(struct shared_stacks *stacks, uint32_t pid, struct shared_stack **out);

#endif
