/*
 * cells.h - what the files of the lattice share; private to them.
 *
 * Blocks of 64 units; for each node in a block one word of bits, which heights have a cell. Bits are set
 * ahead by outer cells and taken back where no path leads after all. A node's cells stand in order of height,
 * so that a bit's rank finds its cell.
 */
#ifndef FATHOM_INFER_MODEL_CELLS_H
#define FATHOM_INFER_MODEL_CELLS_H

#include "infer/model/lattice.h"

#define LATTICE_BLOCK  64u /* units */
#define LATTICE_UNITS  (LATTICE_HEIGHT / CALLERS_UNIT)
#define LATTICE_BLOCKS (LATTICE_UNITS / LATTICE_BLOCK)

struct slot {
    uint64_t live;  /* heights with a cell; ahead of the pass: perhaps */
    uint32_t first; /* the node's first cell in this block */
};

struct cell {
    double paths;
    uint32_t first; /* its value in column 0 */
    uint8_t kind;   /* enum lattice_kind */
    bool wide;      /* the values of the other columns follow; else they are the same */
};

struct block {
    struct slot *slots; /* by node */
    uint64_t *marked;   /* unit by unit: the nodes with a bit there, in words of 64 */
};

/* The cells of a node. */
struct row {
    struct cell *cells;
    struct lattice_value *values;
    uint32_t count, room;
    uint32_t value_count, value_room;
    uint32_t width; /* columns */
};

/* One outer cell that a state's path can go on with. */
struct met {
    struct lattice_state outer;
    uint32_t caller; /* after the node's first */
    uint32_t edge;
    double probability; /* in column 0 */
    double paths;
    struct lattice_value value;
    enum lattice_kind kind;
};

struct lattice {
    const struct graph *graph;
    const struct callers *callers;
    const bool *needed; /* by node: its cells are made; NULL: those of all */
    bool resorts;       /* last resorts are followed */
    struct row *rows;
    struct block blocks[LATTICE_BLOCKS]; /* no slots: nothing is there yet */
    size_t words;                        /* of 64 nodes */
    uint32_t unit;                       /* the first that is not known */
    bool full;                           /* there is no memory to go on */
    size_t bytes, limit;
    uint64_t cells;
    struct met *met; /* of the state that is looked at */
    uint32_t met_count, met_room;
    int32_t *met_of; /* by caller that training saw: its index in met, or -1 */
    struct lattice_way *ways;
    size_t way_room;
};

/* A cell's number among those of its node; CALLERS_NONE: no path leads there. */
static inline uint32_t lattice_cell_of(const struct lattice *l, uint32_t node, uint32_t unit)
{
    const struct slot *slots = l->blocks[unit / LATTICE_BLOCK].slots;
    uint64_t bit = UINT64_C(1) << unit % LATTICE_BLOCK;
    if (!slots || !(slots[node].live & bit))
        return CALLERS_NONE;
    return slots[node].first + (uint32_t)__builtin_popcountll(slots[node].live & (bit - 1));
}

static inline const struct callers_open *lattice_open_of(const struct lattice *l, uint32_t node)
{
    return &l->callers->open[node - l->callers->functions - l->callers->classes];
}

/* Fills l->met with the outer cells of a cell. false: out of memory. */
bool lattice_meet(struct lattice *l, uint32_t node, uint32_t unit, enum lattice_kind *kind);
/* The first columns of the cell whose outer ones are l->met; returns its number of paths. */
double lattice_fill_met(struct lattice *l, uint32_t node, enum lattice_kind kind, uint32_t width,
                        struct lattice_value *values);
/* What a function with an open frame that training saw comes to at a height: what it did one step before, and
 * what it is itself. Returns the number of paths. */
double lattice_fill_open(const struct lattice *l, uint32_t node, uint32_t unit, struct lattice_value *value);

#endif
