/*
 * cells.h - what the files of the lattice share; private to them.
 *
 * Blocks have 64 units, and each node in a block one word whose bits say at which heights it has a cell. A node's cells are
 * sorted by height, so that a bit's rank finds its cell. Outer cells mark in advance which cells may exist.
 */
#ifndef FATHOM_INFER_MODEL_CELLS_H
#define FATHOM_INFER_MODEL_CELLS_H

#include "infer/model/lattice.h"

#define LATTICE_BLOCK  64u /* units */
#define LATTICE_UNITS  (LATTICE_HEIGHT / CALLERS_UNIT)
#define LATTICE_BLOCKS (LATTICE_UNITS / LATTICE_BLOCK)

struct slot {
    uint64_t live;  /* bits: heights with a cell */
    uint32_t first; /* the node's first cell in this block */
};

struct block {
    struct slot *slots; /* by node */
    uint64_t *marked;   /* by unit: the nodes that a path may lead to, in words of 64 */
};

/* The cells of a node: for each cell as many values as the node has columns in the layer. */
struct row {
    struct lattice_value *values;
    uint32_t count, capacity; /* cells */
};

struct layer {
    enum lattice_layer is;
    uint32_t nodes; /* of the callers: this many from the first */
    struct row *rows;
    struct block blocks[LATTICE_BLOCKS]; /* blocks without slots are empty */
    size_t words;                        /* of 64 nodes each */
    uint32_t unit;                       /* the first one that is not computed */
    bool full;                           /* out of memory: nothing more is computed */
    size_t limit;                        /* bytes that the lattice may have */
};

/* One outer cell through which a state's paths go on. */
struct outer_cell {
    const struct lattice_value *value;
    double probability; /* in column 0 */
    uint32_t caller;    /* relative to the node's first; CALLERS_NONE: an open frame's function */
    uint32_t unit;      /* of the outer cell */
};

struct lattice {
    const struct callers *callers;
    const struct reach *reach; /* NULL: all cells are made */
    struct work *work;         /* NULL: no limit */
    struct layer layers[LATTICE_LAYERS];
    size_t bytes;
    uint64_t cells;
    struct outer_cell *outer; /* scratch: those of the present state */
    uint32_t outer_count, outer_capacity;
    int32_t *outer_of; /* by caller that training saw: its index in `outer`, or -1 */
    struct lattice_way *ways;
    size_t way_capacity;
};

static inline uint32_t lattice_width(const struct lattice *l, const struct layer *layer, uint32_t node)
{
    return layer->is == LATTICE_PLAIN ? 1 + l->callers->of[node].pairs : 1;
}

/* Number of bits set. Without the processor's instruction, which not all have, the compiler would call a function. */
static inline uint32_t lattice_ones(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

/* A cell's number among those of its node; CALLERS_NONE: no path leads there. */
static inline uint32_t lattice_cell_of(const struct layer *layer, uint32_t node, uint32_t unit)
{
    const struct slot *slots = layer->blocks[unit / LATTICE_BLOCK].slots;
    uint64_t bit = UINT64_C(1) << unit % LATTICE_BLOCK;
    if (!slots || node >= layer->nodes || !(slots[node].live & bit))
        return CALLERS_NONE;
    return slots[node].first + lattice_ones(slots[node].live & (bit - 1));
}

/* Fills l->outer with the outer cells of a cell of this layer. false: out of memory. */
bool lattice_outer_cells(struct lattice *l, enum lattice_layer layer, uint32_t node, uint32_t unit);
/* Fills in the values of a cell whose outer cells are l->outer. */
void lattice_fill_met(struct lattice *l, const struct layer *layer, uint32_t node,
                      struct lattice_value *values);
/* The value at a height of an open-frame function that training saw: its value one step before, and the function's own. false:
 * no path leads there. */
bool lattice_fill_open(const struct lattice *l, uint32_t node, uint32_t unit, struct lattice_value *value);

#endif
