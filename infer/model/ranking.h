/*
 * ranking.h - the most probable paths of the lattice's states, best first, as far as they are asked for.
 *
 * The k-th best path of a state is a way out of it followed by one of the k best paths of the state it leads to. So a state
 * stores the paths found so far, and for each way the next path along it. To find one more path, the way of the last one
 * advances, which may require one more path of the outer state (the recursive enumeration algorithm: Jimenez and Marzal,
 * Computing the K shortest paths, WAE 1999; for hypergraphs Huang and Chiang, Better k-best parsing, IWPT 2005). The lattice
 * has the best path's probability before any path is made.
 *
 * States and paths are shared by all CIDs: a path costs only the states that none before it needed, however deep it is.
 */
#ifndef FATHOM_INFER_MODEL_RANKING_H
#define FATHOM_INFER_MODEL_RANKING_H

#include "infer/model/lattice.h"

#define RANKING_NONE UINT32_MAX       /* no path */
#define RANKING_END  (UINT32_MAX - 1) /* as the outer path: none, the step is the outermost one */

struct ranking;

/* One step of a path, from a node at a height to the one outside of it. */
struct ranking_step {
    uint32_t node, unit;
    uint32_t edge;  /* number in the graph, or CALLERS_NONE */
    uint32_t outer; /* the rest of the path, or RANKING_END */
};

/* All are borrowed. most: paths per state. work: is reduced, but the caller has to check it. NULL: out of memory. */
struct ranking *ranking_new(struct lattice *lattice, const struct callers *callers, uint32_t most,
                            struct work *work);
void ranking_free(struct ranking *ranking);
/* The number of a state to which a path leads; RANKING_NONE: out of memory. */
uint32_t ranking_state(struct ranking *ranking, struct lattice_state state);
/* ranking_first(): a state's best path; ranking_next(): the one after *path. 1: *path is set; 0: there are no more; -ENOMEM. */
int ranking_first(struct ranking *ranking, uint32_t state, uint32_t *path);
int ranking_next(struct ranking *ranking, uint32_t *path);
struct scaled ranking_probability(const struct ranking *ranking, uint32_t path);
/* 0 or -ENOMEM. */
int ranking_step(struct ranking *ranking, uint32_t path, struct ranking_step *out);
/* A number for the caller's use, initially 0. Valid until another path is made. */
uint32_t *ranking_note(struct ranking *ranking, uint32_t path);
/* Bytes in use, roughly; and how to free them, with all states and paths. false: out of memory. */
size_t ranking_bytes(const struct ranking *ranking);
bool ranking_clear(struct ranking *ranking);

#endif
