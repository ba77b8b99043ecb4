/*
 * flow.h - how control goes through a function: its basic blocks, the edges between them, and where its loops begin.
 *
 * A loop's beginning (header) is a block that an edge leads back to: from one that is found below it, depth first, or from one
 * that nothing is known to lead to. Exceptions lead from calls to where they land. Each way round passes such a block, so a check in each of them bounds the time between
 * two checks (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, section 4). What is in a loop: Aho, Sethi, Ullman,
 * Compilers, section 10.4.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_FLOW_H
#define FATHOM_REWRITE_DUPLICATE_FLOW_H

#include "rewrite/move/unit.h"

struct flow_block {
    uint32_t first, count;   /* instructions of the unit */
    uint32_t out, out_count; /* edges that leave it, in `to` */
    uint32_t in, in_count;   /* edges that lead to it, in `from` */
    bool header;
    bool open; /* what leaves it is not known: it ends with a jump through a pointer */
};

struct flow_landing { /* calls in [start, end) go on at an instruction if they throw */
    uint64_t start, end;
    uint32_t pad;
};

struct flow {
    struct flow_block
        *blocks; /* by address, and one more, without instructions: jumps through pointers lead there */
    uint32_t count, capacity;
    uint32_t entry;      /* the block that the function begins with */
    uint32_t *to, *from; /* blocks */
    uint32_t edge_count, to_capacity, from_capacity;
    uint8_t *back; /* by edge, as in `to`: it leads back */
    uint32_t back_capacity;
    struct flow_landing *landings; /* by start */
    uint32_t landing_count, landing_capacity;
    uint32_t *block_of; /* for each instruction */
    uint32_t block_of_capacity;
    uint32_t *stack, *order; /* scratch; one element for each block, and twice as many */
    uint32_t stack_capacity, order_capacity;
    uint8_t *marks; /* the same */
    uint32_t mark_capacity;
};

/* Replaces the previous contents. 0 or -ENOMEM. */
int flow_make(struct flow *flow, const struct move_unit *unit);
void flow_free(struct flow *flow);
/* The blocks of the loops that begin there, in flow->order, with the beginning first; 0: it has other ways in, or goes on
 * by unknown ones. */
uint32_t flow_loop(struct flow *flow, uint32_t header);
/* Whether control can come back to the block `root` without passing others for which `stops`, by block, is 1, not 0. It is written to, and
 * the same afterwards; flow->marks will do. */
bool flow_returns(struct flow *flow, uint32_t root, uint8_t *stops);

#endif
