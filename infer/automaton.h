/*
 * automaton.h - the height automaton: all paths that a (function, height) can stand for, and which are
 * likely.
 *
 * States are (function, height, what the function called next); a graph edge leads outwards to (caller,
 * height - rise, function). Every call takes at least 8 bytes, so there are no cycles, even in recursive
 * programs, and dynamic programming counts the paths and finds the k most probable where plain enumeration is
 * exponential (DESIGN section 6). A path's probability is the product of its edges', each the share among the
 * callers of its function given what that called next, backed by the share among all its callers where that
 * was seen rarely. Callers that only the binary shows have, together, the share that a function seen n times
 * from t callers has for callers that were not seen yet: t / (n + t) (Witten and Bell, 1991).
 *
 * Calls through pointers and calls from frames of open size are followed from a state only where its other
 * callers lead to no path. An open frame can have any size that leaves its function at a height at which
 * training saw it; where it saw none, any up to CALLERS_OPEN steps of 16 bytes (the ABI's alignment).
 *
 * States at heights that no path can have (reach.h) are not looked into. The others are shared between
 * look-ups. Memory is bounded: when it is full, all is forgotten and found anew.
 * When one CID takes too many states it is looked up with less: without what functions called next, then
 * along the few most probable callers of each state only (enum automaton_order).
 */
#ifndef FATHOM_INFER_AUTOMATON_H
#define FATHOM_INFER_AUTOMATON_H

#include "infer/graph.h"

#define AUTOMATON_BEST     8u           /* paths found for each CID, unless asked otherwise */
#define AUTOMATON_BEST_MAX 64u          /* and the most that can be asked for */
#define AUTOMATON_BYTES    (512u << 20) /* of memory */
#define AUTOMATON_EACH     (1u << 14)   /* new states for one CID in each of the orders, at most */
#define AUTOMATON_BEAM     4u           /* callers followed from a state in the last of the orders */

struct automaton;

/* 0: the default above. */
struct automaton_options {
    uint32_t best;
    size_t bytes;
    uint32_t each;
};

struct automaton_step {
    uint32_t function, height;
    uint64_t site; /* the return address of the call to this function, 0 unknown */
    bool open;     /* called from a frame of open size: the heights above it are likely ones */
};

/* graph is borrowed; options may be NULL. NULL: out of memory. */
struct automaton *automaton_new(const struct graph *graph, const struct automaton_options *options);
void automaton_free(struct automaton *automaton);

enum automaton_order {
    AUTOMATON_SECOND_ORDER, /* all that is known was used */
    AUTOMATON_FIRST_ORDER,  /* what functions called next was left out */
    AUTOMATON_NARROWED,     /* only AUTOMATON_BEAM callers of each state were followed, too */
    AUTOMATON_ORDERS
};

struct automaton_answer {
    double paths;  /* how many there are, exactly while below 2^53; of those followed when narrowed */
    uint32_t best; /* how many of them can be asked for with automaton_path() */
    enum automaton_order order;
    double probability[AUTOMATON_BEST_MAX]; /* of each among all; the most probable first */
};

/* All about one CID. 0; -ENOENT: no path leads there; -ENOSPC: even narrowed it takes more states than
 * allowed; -ENOMEM. */
int automaton_find(struct automaton *automaton, uint32_t function, uint32_t height,
                   struct automaton_answer *out);
/* The steps of the rank-th best path of the CID that was found last, from the root inwards; at most max of
 * them (the innermost are kept). Returns the depth. */
size_t automaton_path(const struct automaton *automaton, uint32_t function, uint32_t height, uint32_t rank,
                      struct automaton_step *steps, size_t max);
size_t automaton_states(const struct automaton *automaton); /* made since the start, forgotten ones too */

#endif
