/*
 * lattice.h - how probable each function is at each height, over all paths that lead there: one pass from the root inwards.
 *
 * A cell is a node of callers.h at a height, with two values for each of the node's columns: the sum over all of its paths, and
 * the most probable path. Every call takes at least 8 bytes, so a height depends only on those below it, and all CIDs share one
 * pass, which is continued when a greater height is asked for. Only cells that a path leads to are stored.
 *
 * There are two layers. The plain one has the paths of calls that training saw or the binary shows. The other one, made only on
 * demand, has the functions at heights to which none of these lead: along the same calls from its own cells, or if there are
 * none, by last resorts: pointers and open frames, from either layer. There, what a function called next is ignored: cells have
 * only column 0.
 */
#ifndef FATHOM_INFER_MODEL_LATTICE_H
#define FATHOM_INFER_MODEL_LATTICE_H

#include "infer/model/reach.h"
#include "infer/model/scaled.h"

#define LATTICE_HEIGHT (1u << 20) /* bytes: greater heights are not computed */

enum lattice_layer { LATTICE_PLAIN, LATTICE_RESORTS, LATTICE_LAYERS };

struct lattice;

/* Probabilities of walks outwards along callers that end at the root exactly when the height is used up. */
struct lattice_value {
    struct scaled sum, best; /* over all paths; of the best one */
};

struct lattice_state {
    uint32_t node;   /* CALLERS_ROOT: the path is complete */
    uint32_t column; /* CALLERS_LEAF: only as the start */
    uint32_t unit;   /* height / CALLERS_UNIT */
};

/* One step outwards from a state. */
struct lattice_way {
    struct lattice_state outer;
    uint32_t edge; /* number in the graph, or CALLERS_NONE */
    double probability;
    struct lattice_value value; /* of the outer state */
};

/* callers and reach are borrowed. reach: which cells to make; NULL: all. bytes: the limit of memory, roughly; work: limits the
 * steps, borrowed too. NULL: out of memory. */
struct lattice *lattice_new(const struct callers *callers, const struct reach *reach, size_t bytes,
                            struct work *work);
void lattice_free(struct lattice *lattice);
/* Computes heights up to this one, in this layer and those before it: 0; -ENOSPC: too little memory or work is left; -ENOMEM. */
int lattice_extend(struct lattice *lattice, enum lattice_layer layer, uint32_t unit);
/* Whether a path leads to a node at a height that was computed. */
bool lattice_has(const struct lattice *lattice, uint32_t node, uint32_t unit);
/* The steps outwards from a state that a path leads to. *out is valid until the next call. Returns their number, or -ENOMEM. */
int64_t lattice_ways(struct lattice *lattice, struct lattice_state state, const struct lattice_way **out);
uint64_t lattice_cells(const struct lattice *lattice); /* so far */
size_t lattice_bytes(const struct lattice *lattice);

#endif
