/*
 * sampled.h - the sampled allocations that are not freed yet, so that it is told when they are. In what is loaded into other programs:
 * its memory is fixed, and what does not fit is not known.
 */
#ifndef FATHOM_HEAP_SAMPLED_H
#define FATHOM_HEAP_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLED_BUCKETS 65536u

extern uint8_t sampled_in[SAMPLED_BUCKETS]; /* how many have this hash; 255: so many or more, from then on */

static inline uint32_t sampled_bucket(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

/* Whether one at this address may be among them: seldom wrong, and what almost all frees need to ask. Any thread may. */
static inline bool sampled_maybe(uint64_t address)
{
    return __atomic_load_n(&sampled_in[sampled_bucket(address)], __ATOMIC_RELAXED) != 0;
}

struct sampled {
    uint64_t address, weight, size; /* weight: bytes that it stands for; 0: there is none */
};
/* weight: above 0. false: there is no room. */
bool sampled_add(struct sampled allocation);
/* What was there, which is not known any more. */
struct sampled sampled_take(uint64_t address);
/* Around a fork, of which the child has a copy that no thread was at. */
void sampled_fork_begins(void);
void sampled_fork_ends(void);

#endif
