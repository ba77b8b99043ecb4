/*
 * shared_positions.h - the positions of samples whose stack's base is unknown (internal to infer/): of all owners, while they are
 * noted, and those of one process that are on no thread's own stack.
 */
#ifndef FATHOM_INFER_BASES_SHARED_POSITIONS_H
#define FATHOM_INFER_BASES_SHARED_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "infer/bases/shared_levels.h"

#define POSITIONS_NEAR 4096u /* bytes: samples at most this far below a stack are on it */

/* A function with a CFA. */
struct position {
    uint32_t owner;    /* a process, or a main thread's stack (main_stacks.h) */
    uint32_t function; /* of the map, or the trie */
    uint64_t cfa, low; /* low: the lowest SP of a sample */
    uint64_t samples;
    bool taken; /* its stack is known already */
};

struct position_table {  /* position_table_clear() */
    struct table *index; /* hash of a position -> its index + 1 */
    struct position *at;
    size_t count, capacity, most;
};

/* Notes a sample with this SP; with `most` positions, no more are added. 0 or -ENOMEM. */
int position_table_note(struct position_table *table, uint32_t owner, uint32_t function, uint64_t cfa,
                        uint64_t sp);
/* Sorts them by owner, CFA and function. None can be noted afterwards. */
void position_table_sort(struct position_table *table);
void position_table_clear(struct position_table *table);

struct positions {
    struct shared_levels *levels; /* borrowed, as are the positions */
    struct position *positions;   /* in order of their CFAs */
    size_t count;
};

/* The first position whose CFA is above the address. */
size_t positions_above(const struct positions *positions, uint64_t address);
/* Marks the positions on the stack [low, base] as taken, and those below that belong to it: near ones, and ones further down
 * whose height is in the map. Returns the new lower end of the stack. */
uint64_t positions_occupy(struct positions *positions, uint64_t low, uint64_t base);

#endif
