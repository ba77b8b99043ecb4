/* block_list.h - the blocks of a function that a walk over its code has reached, without duplicates. Private to
 * image/. */
#ifndef FATHOM_IMAGE_BLOCK_LIST_H
#define FATHOM_IMAGE_BLOCK_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Adds a block unless it is already in the list. Returns false if the list already has `most` blocks. */
static inline bool block_list_add(uint64_t *blocks, unsigned *count, unsigned most, uint64_t address)
{
    for (unsigned i = 0; i < *count; i++)
        if (blocks[i] == address)
            return true;
    if (*count == most)
        return false;
    blocks[(*count)++] = address;
    return true;
}

#endif
