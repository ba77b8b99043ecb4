/* saturate.h - saturating sums of counts. */
#ifndef FATHOM_BASE_SATURATE_H
#define FATHOM_BASE_SATURATE_H

#include <stdint.h>

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
