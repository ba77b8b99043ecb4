/* sort.h - sorts arrays of structs by a number in them, in linear time; and orders them by several values. */
#ifndef FATHOM_BASE_SORT_H
#define FATHOM_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct sort_key {
    size_t at;    /* offset in each item */
    size_t width; /* bytes of the unsigned number: 4 or 8 */
};

/* Sorts `count` items of `size` bytes by a number in each. Stable where qsort_r(3) is. Sorted input costs one pass.
 * (Knuth, The Art of Computer Programming, volume 3, section 5.2.5: distribution from the lowest digit on.) */
void sort_by_key(void *items, size_t count, size_t size, struct sort_key key);
#define SORT_WIDTH(NUMBER) _Generic(NUMBER, uint32_t : 4, uint64_t : 8)
/* Sorts an array by a member. */
#define sort_by(ITEMS, COUNT, MEMBER)                                                                        \
    sort_by_key(ITEMS, COUNT, sizeof *(ITEMS),                                                               \
                (struct sort_key){offsetof(__typeof__(*(ITEMS)), MEMBER), SORT_WIDTH((ITEMS)->MEMBER)})
/* Sorts an array of numbers. */
#define sort_numbers(ITEMS, COUNT)                                                                           \
    sort_by_key(ITEMS, COUNT, sizeof *(ITEMS), (struct sort_key){0, SORT_WIDTH(*(ITEMS))})
/* The same, and drops those that are equal to the one before. Returns how many are left. */
#define sort_unique(ITEMS, COUNT) sort_unique_numbers(ITEMS, COUNT, SORT_WIDTH(*(ITEMS)))
size_t sort_unique_numbers(void *numbers, size_t count, size_t width);
/* A number, and where what it is of was. */
struct sort_keyed {
    uint64_t key;
    size_t place;
};
/* Sorts these by key, and by place where they are in its order at first: for items that cost more to move, or have an order of
 * several numbers. false: out of memory; nothing is sorted. */
bool sort_keyed(struct sort_keyed *items, size_t count);
/* qsort(3) of an array, which may be NULL if it is empty. */
#define sort_with(ITEMS, COUNT, COMPARE)                                                                     \
    do {                                                                                                     \
        if (COUNT)                                                                                           \
            qsort((ITEMS), (COUNT), sizeof *(ITEMS), (COMPARE));                                             \
    } while (0)

/* For comparison functions: less than, equal to or greater than 0, as a is to b.
 *     return order_of(x->owner, y->owner) ?: order_of(x->place, y->place); */
#define order_of(a, b) (((a) > (b)) - ((a) < (b)))

#endif
