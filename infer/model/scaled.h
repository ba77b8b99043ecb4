/*
 * scaled.h - probabilities of paths, which can be far too small for a double (internal to infer/).
 *
 * A path of a thousand calls, each with probability 0.01, has 1e-2000. Relative error: 2^-24 for each value that is stored.
 */
#ifndef FATHOM_INFER_MODEL_SCALED_H
#define FATHOM_INFER_MODEL_SCALED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SCALED_FAR 1000 /* powers of two: values that are so much smaller are ignored in sums */

/* fraction * 2^exponent; fraction in [0.5, 1), or 0. */
struct scaled {
    float fraction;
    int32_t exponent;
};

/* The same while it is summed up: a fraction of any size. */
struct scaled_sum {
    double fraction;
    int32_t exponent;
};

/* 2^k; k within SCALED_FAR. */
static inline double scaled_power(int32_t k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* x * 2^exponent; x is 0 or a positive normal number. */
static inline struct scaled scaled_of(double x, int32_t exponent)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t own = (int32_t)(bits >> 52) - 1022;
    if (own <= -1022)
        return (struct scaled){0, 0};
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1022) << 52;
    memcpy(&x, &bits, sizeof x);
    float fraction = (float)x;
    return fraction < 1 ? (struct scaled){fraction, exponent + own}
                        : (struct scaled){0.5f, exponent + own + 1};
}

static inline bool scaled_less(struct scaled a, struct scaled b)
{
    if (a.fraction <= 0 || b.fraction <= 0)
        return a.fraction < b.fraction;
    return a.exponent != b.exponent ? a.exponent < b.exponent : a.fraction < b.fraction;
}

static inline struct scaled scaled_times(struct scaled a, double factor)
{
    return scaled_of((double)a.fraction * factor, a.exponent);
}

/* a / b (neither is 0), as far as a double can represent it. */
static inline double scaled_ratio(struct scaled a, struct scaled b)
{
    return ldexp((double)a.fraction / (double)b.fraction, a.exponent - b.exponent);
}

/* Adds factor * x. */
static inline void scaled_add(struct scaled_sum *sum, struct scaled x, double factor)
{
    double more = factor * (double)x.fraction;
    if (more <= 0)
        return; /* the exponent of 0 is meaningless */
    if (sum->fraction <= 0) {
        *sum = (struct scaled_sum){more, x.exponent};
        return;
    }
    int32_t up = x.exponent - sum->exponent;
    if (up <= 0) {
        sum->fraction += up > -SCALED_FAR ? more * scaled_power(up) : 0;
        return;
    }
    sum->fraction = more + (up < SCALED_FAR ? sum->fraction * scaled_power(-up) : 0);
    sum->exponent = x.exponent;
}

static inline struct scaled scaled_total(struct scaled_sum sum)
{
    return scaled_of(sum.fraction, sum.exponent);
}

#endif
