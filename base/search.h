/* search.h - binary search, in the place where it stands: the comparison is part of its loop. */
#ifndef FATHOM_BASE_SEARCH_H
#define FATHOM_BASE_SEARCH_H

/* The first of the numbers `from` to `to` - 1 for which the condition `before`, which may use the number as
 * `i`, does not hold; `to`: it holds for all. It must hold for no number behind one for which it does not.
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
