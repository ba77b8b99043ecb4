/* search.h - binary search as a macro, so that the comparison is inlined. */
#ifndef FATHOM_BASE_SEARCH_H
#define FATHOM_BASE_SEARCH_H

/* The first number in [from, to) for which the condition `before` is false; `to` if it is true for all of them.
 * `before` uses the number as `i`. Once it is false, it must be false for all larger numbers.
 *
 *     first = lower_bound(i, 0, count, items[i].address < address); */
#define lower_bound(i, from, to, before)                                                                     \
    __extension__({                                                                                          \
        __typeof__((from) + (to)) search_low = (from), search_high = (to);                                   \
        while (search_low < search_high) {                                                                   \
            __typeof__(search_low) i = search_low + (search_high - search_low) / 2;                          \
            if (before)                                                                                      \
                search_low = i + 1;                                                                          \
            else                                                                                             \
                search_high = i;                                                                             \
        }                                                                                                    \
        search_low;                                                                                          \
    })

#endif
