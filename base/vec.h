/*
 * vec.h - growable arrays.
 *
 * An array is three variables or members of its owner: a pointer to the items (NULL at first, freed by the
 * owner), the number of items, and the allocated number, the capacity (uint32_t or size_t). It doubles, so
 * that adding an item takes amortised O(1). The macros evaluate the three names more than once.
 */
#ifndef FATHOM_BASE_VEC_H
#define FATHOM_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/* Makes space for `more` items after the first `count`. false: out of memory, or more items than `capacity`
 * can count; nothing has changed then. */
#define vec_reserve(items, count, capacity, more)                                                            \
    __extension__({                                                                                          \
        _Static_assert((__typeof__(capacity))-1 > 0, "the capacity is unsigned");                            \
        size_t vec_count = (count), vec_more = (more), vec_end;                                              \
        bool vec_fits = !__builtin_add_overflow(vec_count, vec_more, &vec_end) && vec_end <= (capacity);     \
        if (!vec_fits) {                                                                                     \
            size_t vec_capacity = (capacity);                                                                \
            void *vec_grown = vec_grow((items), sizeof *(items), vec_count, vec_more, &vec_capacity,         \
                                       (__typeof__(capacity))-1);                                            \
            if (vec_grown) {                                                                                 \
                (items) = vec_grown;                                                                         \
                (capacity) = (__typeof__(capacity))vec_capacity;                                             \
                vec_fits = true;                                                                             \
            }                                                                                                \
        }                                                                                                    \
        vec_fits;                                                                                            \
    })

/* Appends a value, which is evaluated after making room. false: as vec_reserve(). */
#define vec_push(items, count, capacity, ...)                                                                \
    (vec_reserve(items, count, capacity, 1) && ((items)[count] = (__VA_ARGS__), (count)++, true))

/* Called by vec_reserve() to grow the array, up to `most` items: returns the items, moved to memory for the
 * new `*capacity` of them. NULL: impossible, and the items have not moved. */
void *vec_grow(void *items, size_t item_size, size_t count, size_t more, size_t *capacity, size_t most);

#endif
