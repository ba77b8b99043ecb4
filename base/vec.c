/* vec.c - see vec.h. */
#include "base/vec.h"

#include <stdlib.h>

#define FIRST_ROOM 4 /* items */

void *vec_grow(void *items, size_t item_size, size_t count, size_t more, size_t *capacity, size_t most)
{
    size_t wanted, grown = *capacity > most / 2 ? most : *capacity * 2;
    if (__builtin_add_overflow(count, more, &wanted) || wanted > most)
        return NULL;
    if (grown < FIRST_ROOM)
        grown = FIRST_ROOM;
    if (grown < wanted)
        grown = wanted;
    void *moved = reallocarray(items, grown, item_size);
    if (moved)
        *capacity = grown;
    return moved;
}
