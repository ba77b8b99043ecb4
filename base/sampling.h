/*
 * sampling.h - chooses which allocations are sampled: a Poisson process over the bytes that a thread
 * allocates, as in tcmalloc and jemalloc. An allocation of `size` bytes is sampled with the probability 1 -
 * exp(-size / mean), and stands for size / that probability, so that sums over samples equal those over all
 * on average (Horvitz and Thompson, A Generalization of Sampling Without Replacement from a Finite Universe,
 * 1952). Also used in libraries loaded into other programs, so without libm.
 */
#ifndef FATHOM_BASE_SAMPLING_H
#define FATHOM_BASE_SAMPLING_H

#include <stdint.h>
#include <string.h>

/* xorshift64* (Vigna, An Experimental Exploration of Marsaglia's xorshift Generators, Scrambled, 2016). *state is never 0. */
static inline uint64_t sampling_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* ln(x) of a positive normal number, to 1e-6. */
static inline double sampling_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&x, &bits, sizeof x); /* in [1, 2) */
    const double t = (x - 1) / (x + 1), s = t * t;
    return exponent * 0.69314718055994531 +
           2 * t * (1 + s * (1 / 3.0 + s * (1 / 5.0 + s * (1 / 7.0 + s * (1 / 9.0 + s / 11)))));
}

/* 1 - exp(-x) for x >= 0, to a relative 1e-6. */
static inline double sampling_chance(double x)
{
    if (x > 20)
        return 1;
    double sum = 1, term = 1, power = 1;
    unsigned halved = 0;
    for (; x > 0.5; x /= 2) /* exp(-x) = exp(-x / 2)^2 */
        halved++;
    if (!halved) { /* x - x^2/2 + x^3/6 - ...: exact for small x */
        double chance = 0;
        for (unsigned n = 1; n < 12; n++) {
            term *= n == 1 ? x : -x / n;
            chance += term;
        }
        return chance;
    }
    for (unsigned n = 1; n < 12; n++)
        sum += term *= -x / n;
    for (power = sum; halved; halved--)
        power *= power;
    return 1 - power;
}

/* Bytes to the next sample. */
static inline int64_t sampling_next(uint64_t *state, double mean)
{
    const double u = ((double)(sampling_random(state) >> 11) + 1) * 0x1p-53; /* in (0, 1] */
    const double bytes = -sampling_log(u) * mean;
    return bytes < 0x1p62 ? (int64_t)bytes + 1 : INT64_MAX;
}

/* The bytes that a sampled allocation stands for. */
static inline uint64_t sampling_weight(uint64_t size, double mean)
{
    const double chance = sampling_chance((double)size / mean);
    return chance > 0 ? (uint64_t)((double)size / chance + 0.5) : (uint64_t)mean;
}

#endif
