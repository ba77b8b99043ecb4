/* compare.h - comparisons for qsort(). */
#ifndef FATHOM_BASE_COMPARE_H
#define FATHOM_BASE_COMPARE_H

#include <stdint.h>

static inline int compare_u64(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

#endif
