/* sort.h - sorts arrays of structs by a number in them, in linear time. */
#ifndef FATHOM_BASE_SORT_H
#define FATHOM_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

#define SORT_ITEM_MOST 128 /* bytes of an item */

/* `count` items of `size` bytes by the uint64_t at `key` bytes of each. Items with the same keep their order, unless memory is short. Those that are
 * sorted already cost one pass. (Knuth, The Art of Computer Programming, volume 3, section 5.2.5: distribution from the lowest digit on.) */
void sort_by_u64(void *items, size_t count, size_t size, size_t key);
/* Of an array, by a member that is a uint64_t. */
#define sort_by(ITEMS, COUNT, MEMBER)                                                                        \
    sort_by_u64(ITEMS, COUNT, sizeof *(ITEMS),                                                               \
                _Generic((ITEMS)->MEMBER, uint64_t                                                           \
                         : offsetof(__typeof__(*(ITEMS)), MEMBER)))
/* Of an array of them. */
static inline void sort_u64(uint64_t *items, size_t count)
{
    sort_by_u64(items, count, sizeof *items, 0);
}

#endif
