/*
 * lattice.h - how probable each function is at each height, over all paths that lead there, and how many they
 * are: one pass from the root inwards.
 *
 * A cell is a node of callers.h at a height, with what it is for each of its columns: the sum over all of its
 * paths, and the most probable one. Every call takes at least 8 bytes, so a height needs those below it alone
 * and all CIDs share one pass, which goes on when a greater height is asked for. Only cells that a path leads
 * to are kept.
 *
 * Callers are tried in this order, the next only where those before lead to no path: those that training saw
 * or the binary shows, along paths of such calls alone; the same, along any paths; pointers and open frames.
 */
#ifndef FATHOM_INFER_MODEL_LATTICE_H
#define FATHOM_INFER_MODEL_LATTICE_H

#include "infer/model/callers.h"
#include "infer/model/scaled.h"

#define LATTICE_HEIGHT (1u << 20) /* bytes: greater heights are not looked into */

struct lattice;

/* Probabilities: of a walk outwards along callers to end at the root with the height used up. */
struct lattice_value {
    struct scaled sum, best; /* over all paths; of the best */
};

enum lattice_kind {
    LATTICE_PLAIN,  /* paths without last resorts */
    LATTICE_BEYOND, /* called as is usual, but from paths with last resorts */
    LATTICE_RESORT, /* called by a last resort */
};

struct lattice_cell {
    enum lattice_kind kind;
    double paths;
    struct lattice_value value; /* of column 0 */
};

struct lattice_state {
    uint32_t node;   /* CALLERS_ROOT: the path is complete */
    uint32_t column; /* CALLERS_LEAF: only to start from */
    uint32_t unit;   /* height / CALLERS_UNIT */
};

/* A way outwards from a state. */
struct lattice_way {
    struct lattice_state outer;
    uint32_t edge; /* number in the graph, or CALLERS_NONE */
    double probability;
    struct lattice_value value; /* of the outer state */
    double paths;               /* of the outer node at its height */
};

/* graph, callers and needed are borrowed. needed: for each node, whether to make its cells (callers_towards());
 * NULL: make all. resorts: follow last resorts where nothing else leads to a path; without, all cells are
 * plain, and far fewer. bytes: the limit of memory, roughly. NULL: out of memory. */
struct lattice *lattice_new(const struct graph *graph, const struct callers *callers, const bool *needed,
                            bool resorts, size_t bytes);
void lattice_free(struct lattice *lattice);
/* Makes the heights up to this one known: 0; -ENOSPC: there is not the memory for them; -ENOMEM. */
int lattice_extend(struct lattice *lattice, uint32_t unit);
/* The ways out of a state at a known height, none from one that no path leads to. *out lives until the next call. Returns how many, or -ENOMEM. */
int64_t lattice_ways(struct lattice *lattice, struct lattice_state state, const struct lattice_way **out);
/* The cell of a node at a known height; false: no path leads there. */
bool lattice_find(const struct lattice *lattice, uint32_t node, uint32_t unit, struct lattice_cell *out);
uint64_t lattice_cells(const struct lattice *lattice); /* so far */
size_t lattice_bytes(const struct lattice *lattice);

#endif
