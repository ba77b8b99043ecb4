/* shared_positions.h - the positions of one process's samples that are on no thread's own stack (internal to infer/). */
#ifndef FATHOM_INFER_BASES_SHARED_POSITIONS_H
#define FATHOM_INFER_BASES_SHARED_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "infer/bases/shared_levels.h"

#define POSITIONS_NEAR 4096u /* bytes: samples at most this far below a stack are on it */

/* A function with a CFA. */
struct position {
    uint32_t pid, function; /* of the map */
    uint64_t cfa, low;      /* low: the lowest SP of a sample */
    uint64_t samples;
    bool taken; /* its stack is known already */
};

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
