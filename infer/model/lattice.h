/*
 * lattice.h - how probable each function is at each height, over all paths that lead there: one pass from the root
 * inwards.
 *
 * A cell is a node of callers.h at a height, with what it is for each of its columns: the sum over all of its
 * paths, and the most probable one. Every call takes at least 8 bytes, so a height needs those below it alone
 * and all CIDs share one pass, which goes on when a greater height is asked for. Only cells that a path leads
 * to are kept.
 *
 * There are two layers. The plain one has the paths of calls that training saw or the binary shows. The other, made only
 * when it is asked for, has the functions that none of these lead to at a height: along the same calls from its own cells, or,
 * where there are none, by last resorts: pointers and open frames, from either layer. What a function called next is not
 * asked there: its cells have column 0 alone.
 */
#ifndef FATHOM_INFER_MODEL_LATTICE_H
#define FATHOM_INFER_MODEL_LATTICE_H

#include "infer/model/reach.h"
#include "infer/model/scaled.h"

#define LATTICE_HEIGHT (1u << 20) /* bytes: greater heights are not looked into */

enum lattice_layer { LATTICE_PLAIN, LATTICE_RESORTS, LATTICE_LAYERS };

struct lattice;

/* Probabilities: of a walk outwards along callers to end at the root with the height used up. */
struct lattice_value {
    struct scaled sum, best; /* over all paths; of the best */
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
};

/* callers and reach are borrowed. reach: which cells are to be made; NULL: all. bytes: the limit of memory,
 * roughly; work: of steps, borrowed too. NULL: out of memory. */
struct lattice *lattice_new(const struct callers *callers, const struct reach *reach, size_t bytes,
                            struct work *work);
void lattice_free(struct lattice *lattice);
/* Makes the heights up to this one known, in this layer and those before it: 0; -ENOSPC: there is not the memory or the work for them;
 * -ENOMEM. */
int lattice_extend(struct lattice *lattice, enum lattice_layer layer, uint32_t unit);
/* Whether a path leads to a node at a height, as far as is known. */
bool lattice_has(const struct lattice *lattice, uint32_t node, uint32_t unit);
/* The ways out of a state that a path leads to. *out lives until the next call. Returns how many, or -ENOMEM. */
int64_t lattice_ways(struct lattice *lattice, struct lattice_state state, const struct lattice_way **out);
uint64_t lattice_cells(const struct lattice *lattice); /* so far */
size_t lattice_bytes(const struct lattice *lattice);

#endif
