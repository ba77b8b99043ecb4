/*
 * flow.h - control flow of a function: its basic blocks, the edges between them, and where its loops begin.
 *
 * A loop's header is a block that a back edge leads to: from a block found below it, depth first, or from one
 * that nothing is known to lead to. Calls have edges to where their exceptions land. Each cycle passes a header,
 * so a check in each header bounds the time between two checks (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001,
 * section 4). The blocks of a loop: Aho, Sethi, Ullman, Compilers, section 10.4.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_FLOW_H
#define FATHOM_REWRITE_DUPLICATE_FLOW_H

#include "rewrite/move/unit.h"

struct flow_block {
    uint32_t first, count;   /* instructions of the unit */
    uint32_t out, out_count; /* outgoing edges, in `to` */
    uint32_t in, in_count;   /* incoming edges, in `from` */
    bool header;
    bool open; /* its successors are unknown: it ends with a jump through a pointer */
};

struct flow_landing { /* calls in [start, end) continue at an instruction if they throw */
    uint64_t start, end;
    uint32_t pad;
};

struct flow {
    struct flow_block *
        blocks; /* by address; a last one without instructions stands for the targets of jumps through pointers */
    uint32_t count, capacity;
    uint32_t entry;      /* the function's first block */
    uint32_t *to, *from; /* blocks */
    uint32_t edge_count, to_capacity, from_capacity;
    uint8_t *back; /* by edge, as in `to`: it is a back edge */
    uint32_t back_capacity;
    struct flow_landing *landings; /* by start */
    uint32_t landing_count, landing_capacity;
    uint32_t *block_of; /* by instruction */
    uint32_t block_of_capacity;
    uint32_t *stack, *order; /* scratch; one element per block, and twice as many */
    uint32_t stack_capacity, order_capacity;
    uint8_t *marks; /* the same */
    uint32_t mark_capacity;
};

/* Replaces the previous contents. 0 or -ENOMEM. */
int flow_make(struct flow *flow, const struct move_unit *unit);
void flow_free(struct flow *flow);
/* The blocks of the loops with this header, in flow->order, header first. 0: the loop has other entries, or
 * unknown successors. */
uint32_t flow_loop(struct flow *flow, uint32_t header);
/* Whether control can come back to the block `root` without passing others whose `stops` (by block) is 1 instead
 * of 0. `stops` is changed meanwhile, and restored; it may be flow->marks. */
bool flow_returns(struct flow *flow, uint32_t root, uint8_t *stops);

#endif
