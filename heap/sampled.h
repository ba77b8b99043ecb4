/*
 * sampled.h - the sampled allocations that are not freed yet, so that their end can be reported. For use in other
 * programs: memory is fixed, and what does not fit is not tracked.
 */
#ifndef FATHOM_HEAP_SAMPLED_H
#define FATHOM_HEAP_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLED_BUCKETS 65536u

extern uint8_t sampled_in[SAMPLED_BUCKETS]; /* addresses with a hash; 255: so many or more, for good */

static inline uint32_t sampled_bucket(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

/* Whether one at this address may be sampled: seldom wrong, and enough for almost all frees. Thread-safe. */
static inline bool sampled_maybe(uint64_t address)
{
    return __atomic_load_n(&sampled_in[sampled_bucket(address)], __ATOMIC_RELAXED) != 0;
}

struct sampled {
    uint64_t address, weight, size; /* weight: bytes that it stands for; 0: none */
};
/* weight: above 0. false: no room. */
bool sampled_add(struct sampled allocation);
/* Removes and returns the allocation at this address. */
struct sampled sampled_take(uint64_t address);
/* Call around a fork, so that no thread is changing the table when the child's copy is made. */
void sampled_fork_begins(void);
void sampled_fork_ends(void);

#endif
