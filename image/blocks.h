/*
 * blocks.h - the basic blocks of a function, its .cold parts' too: runs of instructions that are entered at the first alone, and left at the last; and where
 * control goes from each. A call returns, unless the function is known not to (no_return.h).
 */
#ifndef FATHOM_IMAGE_BLOCKS_H
#define FATHOM_IMAGE_BLOCKS_H

#include "image/image.h"

#define BLOCK_OUTSIDE UINT32_MAX       /* where control comes from at the entry, and goes at a return */
#define BLOCK_ANY     (UINT32_MAX - 1) /* between jumps whose table is not known, and where they may go */

struct block_edge {
    uint32_t from, to;
};

struct block_call {  /* a call, or a jump out of the function */
    uint32_t insn;   /* in `addresses` */
    uint64_t target; /* 0: it is an indirect call */
};

struct blocks {
    /* Of the instructions, ascending within a part; the function's entry is the first of its own part. */
    uint64_t *addresses;
    uint32_t *blocks; /* of each, the number of its block, from 0 on */
    uint32_t count, block_count;
    struct block_edge *edges; /* each once; by `from` */
    uint32_t edge_count, edge_capacity;
    struct block_call *calls; /* in the order of instructions */
    uint32_t call_count, call_capacity;
};

/* What is read of an image for all of its functions. */
struct blocks_reader;

/* The image is borrowed. NULL: out of memory. */
struct blocks_reader *blocks_open(const struct image *image);
void blocks_close(struct blocks_reader *reader); /* NULL is allowed */
/* 0 or -ENOMEM. Free it even on failure. */
int blocks_read(struct blocks_reader *reader, uint32_t function, struct blocks *out);
void blocks_free(struct blocks *blocks);
/* The index of a block's first instruction. */
uint32_t blocks_first(const struct blocks *blocks, uint32_t block);
/* The index of the instruction that an address of the function is in: the last one that does not begin behind it. UINT32_MAX: all do. */
uint32_t blocks_find(const struct blocks *blocks, uint64_t address);

#endif
