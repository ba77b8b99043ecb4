/* saturate.h - counts that saturate at their maximum. */
#ifndef FATHOM_BASE_SATURATE_H
#define FATHOM_BASE_SATURATE_H

#include <stdint.h>

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The integer part of a product or share of counts; negative values and NaN give 0. */
static inline uint64_t count_saturating(double value)
{
    return value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
}

#endif
