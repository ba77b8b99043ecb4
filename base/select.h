/* select.h - the value that would be at an index if an array were sorted. Uses no library. */
#ifndef FATHOM_BASE_SELECT_H
#define FATHOM_BASE_SELECT_H

#include <stdint.h>

/* Hoare's selection (Algorithm 65: FIND, CACM 4, 1961): reorders `values`. wanted < count. */
static inline uint64_t select_u64(uint64_t *values, uint32_t count, uint32_t wanted)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint64_t pivot = values[wanted];
        uint32_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                uint64_t moved = values[i];
                values[i++] = values[j];
                values[j] = moved;
                if (!j)
                    break;
                j--;
            }
        }
        if (wanted <= j)
            high = j;
        else if (wanted >= i)
            low = i;
        else
            break;
    }
    return values[wanted];
}

#endif
