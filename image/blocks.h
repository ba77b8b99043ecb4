/*
 * blocks.h - the basic blocks of a function, its .cold parts' too: runs of instructions that are entered at the first alone, and left at the last. (A call is
 * taken to return.)
 */
#ifndef FATHOM_IMAGE_BLOCKS_H
#define FATHOM_IMAGE_BLOCKS_H

#include "image/image.h"

struct blocks {
    uint64_t *
        addresses; /* of the instructions, ascending within a part; the function's entry is the first of its own part */
    uint32_t *blocks; /* of each, the number of its block, from 0 on */
    uint32_t count, block_count;
};

/* What is read of an image for all of its functions. */
struct blocks_reader;

/* The image is borrowed. NULL: out of memory. */
struct blocks_reader *blocks_open(const struct image *image);
void blocks_close(struct blocks_reader *reader); /* NULL is allowed */
/* 0 or -ENOMEM. Free it even on failure. */
int blocks_read(struct blocks_reader *reader, uint32_t function, struct blocks *out);
void blocks_free(struct blocks *blocks);
/* The index of the instruction that an address of the function is in: the last one that does not begin behind it. UINT32_MAX: all do. */
uint32_t blocks_find(const struct blocks *blocks, uint64_t address);

#endif
