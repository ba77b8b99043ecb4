/*
 * poisson.h - draws the number of bytes to the next sample of a Poisson process, like base/sampling.h but in
 * integers: also compiled for BPF.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_POISSON_H
#define FATHOM_COLLECTOR_VERIFY_POISSON_H

#include <linux/types.h>

#define POISSON_BITS 16 /* fractional bits: a mean is accurate to 1e-5 */
#define POISSON_LN_2 45426u

/* random: uniformly distributed; mean: bytes. Returns at least 1. */
static inline __u64 poisson_next(__u32 random, __u32 mean)
{
    __u64 u = (__u64)random + 1; /* as a fraction of 2^32 */
    __u32 whole = 1, part = 0;   /* of the binary logarithm, negated */
    if (u >> 32)
        return 1;
    for (unsigned shift = 16; shift; shift /= 2)
        if (!(u >> (32 - shift))) {
            u <<= shift;
            whole += shift;
        }
    for (unsigned i = 0; i < POISSON_BITS;
         /* Squaring doubles the logarithm: each round yields one bit of it. */
         i++) {
        u = u * u >> 31;
        const __u32 bit = (__u32)(u >> 32);
        part = part << 1 | bit;
        u >>= bit;
    }
    const __u64 ln = (((__u64)whole << POISSON_BITS) - part) * POISSON_LN_2 >> POISSON_BITS;
    return (ln * mean >> POISSON_BITS) + 1;
}

#endif
