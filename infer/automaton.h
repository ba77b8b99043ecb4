/*
 * automaton.h - the height automaton: all paths that a (function, height) can stand for, and which are
 * likely.
 *
 * States are (function, height, what the function called next); a graph edge leads outwards to (caller,
 * height - rise, function). Every call takes at least 8 bytes, so there are no cycles, even in recursive
 * programs, and dynamic programming counts the paths and finds the k most probable where plain enumeration is
 * exponential (DESIGN section 6). A path's probability is the product of its edges', each the share among the
 * callers of its function given what that called next, backed by the share among all its callers where that
 * was seen rarely. States are shared between all look-ups.
 */
#ifndef FATHOM_INFER_AUTOMATON_H
#define FATHOM_INFER_AUTOMATON_H

#include "infer/graph.h"

#define AUTOMATON_BEST   8u         /* paths found for each CID, at most */
#define AUTOMATON_STATES (1u << 20) /* in memory at most, about 100 MB */
#define AUTOMATON_EACH   (1u << 15) /* new ones for one CID at most */

struct automaton;

struct automaton_step {
    uint32_t function, height;
    uint64_t site; /* the return address of the call to this function, 0 unknown */
};

/* graph is borrowed. NULL: out of memory. */
struct automaton *automaton_new(const struct graph *graph);
void automaton_free(struct automaton *automaton);

struct automaton_answer {
    double paths;                       /* how many there are, exactly while below 2^53 */
    uint32_t best;                      /* how many of them can be asked for with automaton_path() */
    double probability[AUTOMATON_BEST]; /* of each among all; the most probable first */
};

/* All about one CID. 0; -ENOENT: no path leads there; -ENOSPC: too many states (AUTOMATON_STATES): nothing is
 * known; -ENOMEM. */
int automaton_find(struct automaton *automaton, uint32_t function, uint32_t height,
                   struct automaton_answer *out);
/* The steps of the rank-th best path of a CID that was found, from the root inwards; at most max of them (the
 * innermost are kept). Returns the depth.
 */
size_t automaton_path(const struct automaton *automaton, uint32_t function, uint32_t height, uint32_t rank,
                      struct automaton_step *steps, size_t max);
size_t automaton_states(const struct automaton *automaton);

#endif
