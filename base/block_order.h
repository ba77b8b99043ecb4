/*
 * block_order.h - in which order the basic blocks of a function should lie, so that control mostly goes on to the next one, and else not far: the extended TSP
 * of Newell and Pupyrev, "Improved Basic Block Reordering" (IEEE Transactions on Computers 2020), with the weights that LLVM and BOLT use. By merging chains, as
 * these do: the order found is near to the best, and need not be it.
 * The best has the largest sum of the counts of jumps to the next block, and of a tenth or less of those of short ones.
 */
#ifndef FATHOM_BASE_BLOCK_ORDER_H
#define FATHOM_BASE_BLOCK_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct order_block {
    double count;  /* how often it runs */
    uint64_t size; /* bytes */
};

struct order_jump { /* or going on without one */
    uint32_t from, to;
    double count;
};

struct order_graph {
    const struct order_block *blocks; /* the first is the function's entry, and stays the first */
    uint32_t block_count;
    const struct order_jump *jumps;
    uint32_t jump_count;
};

/* order: of all blocks. work: how many blocks and jumps may be looked at, some ns each; those that were are taken off. 0; 1: that was used up, so the order could be
 * better; or -ENOMEM. */
int block_order_find(const struct order_graph *graph, uint32_t *order, uint64_t *work);

#endif
