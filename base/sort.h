/* sort.h - sorts arrays of structs by a number in them, in linear time. */
#ifndef FATHOM_BASE_SORT_H
#define FATHOM_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

#define SORT_ITEM_MOST 128 /* maximum bytes of an item */

/* Sorts `count` items of `size` bytes by the uint64_t at offset `key` in each. Stable, unless memory is
 * short. Sorted input costs one pass. (Knuth, The Art of Computer Programming, volume 3, section 5.2.5:
 * distribution from the lowest digit on.) */
void sort_by_u64(void *items, size_t count, size_t size, size_t key);
/* Sorts an array by a uint64_t member. */
#define sort_by(ITEMS, COUNT, MEMBER)                                                                        \
    sort_by_u64(ITEMS, COUNT, sizeof *(ITEMS),                                                               \
                _Generic((ITEMS)->MEMBER, uint64_t                                                           \
                         : offsetof(__typeof__(*(ITEMS)), MEMBER)))
/* Sorts an array of numbers. */
static inline void sort_u64(uint64_t *items, size_t count)
{
    sort_by_u64(items, count, sizeof *items, 0);
}

#endif
