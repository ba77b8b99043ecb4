/*
 * callers.h - who can have called each function, with which probability: the graph in the form in which the automaton walks it
 * (automaton.h says how the kinds of edges are mixed).
 *
 * Nodes are the functions; the classes of calls through pointers, each between its targets and its calls; and once more the
 * functions that call from frames of open size, each between what they call and themselves at any of the heights that this
 * allows. A function has columns: 0 if it is unknown what it called next, and one for each function that training saw it call.
 *
 * Nodes that do not matter for what is asked can be left out (reach.h).
 */
#ifndef FATHOM_INFER_MODEL_CALLERS_H
#define FATHOM_INFER_MODEL_CALLERS_H

#include <math.h>

#include "infer/model/graph.h"

#define CALLERS_UNIT 8u /* bytes: heights and rises that are not multiples have no paths (the ABI) */
/* units: sizes of frames differ by multiples of this (x86-64 psABI, section 3.2.2) */
#define CALLERS_STEP 2u
#define CALLERS_OPEN 64u        /* sizes tried for an open frame whose function training never saw */
#define CALLERS_ROOT UINT32_MAX /* as a node: the stack's base */
#define CALLERS_NONE UINT32_MAX
#define CALLERS_LEAF UINT32_MAX /* as a column: the function called nothing, as the sample is in it */

struct caller {
    uint32_t outer;  /* node, or CALLERS_ROOT */
    uint32_t column; /* of the outer node */
    uint32_t rise;   /* units; for the root: the height */
    uint32_t edge;   /* number in the graph; CALLERS_NONE: from a function to a class */
    double probability;
};

/* What the function called next makes its caller it[first + caller] this much more probable, and all others less. */
struct callers_term {
    uint32_t caller; /* relative to the node's first caller */
    double probability;
};

struct callers_pair {
    uint32_t first, count; /* index and number of its terms */
    double rest;           /* factor for the probabilities of the callers that training saw */
};

struct callers_node {
    uint32_t first;               /* its callers in order: seen in training, */
    uint32_t seen, fixed, resort; /* known from the binary, last resorts: the number of each */
    uint32_t first_pair, pairs;   /* of columns 1 .. pairs */
    uint32_t leaf;                /* pair of column CALLERS_LEAF; CALLERS_NONE: the same as column 0 */
    uint32_t open;                /* for a function: its node as one with an open frame, or CALLERS_NONE */
    uint32_t first_callee, callees;
};

/* The reverse: whom a node calls. */
struct callee {
    uint32_t node, rise;
};

/* A function that calls from frames of open size. */
struct callers_open {
    uint32_t function;
    const uint32_t *units; /* heights at which training saw it, ascending; none if it was never seen */
    uint32_t count;
};

struct callers {
    /* numbers of each; nodes: their sum, numbered in this order */
    uint32_t functions, classes, opens, nodes;
    struct callers_node *of;
    struct caller *callers;
    struct callee *callees;
    struct callers_pair *pairs;
    struct callers_term *terms;
    struct callers_open *open;
    uint32_t *units;
    uint32_t caller_count, term_count;
    uint32_t *function_of; /* by node: the map's function */
    uint32_t *node_of;     /* by the map's function: its node; CALLERS_NONE: it is left out */
};

/* keep: which nodes to make, by their numbers if all are made; NULL: all. *callers has to be freed in any case. 0 or -ENOMEM. */
int callers_make(struct callers *callers, const struct graph *graph, const bool *keep);
void callers_free(struct callers *callers);

/* NULL: the node is not a function that calls from frames of open size. */
static inline const struct callers_open *callers_open_of(const struct callers *c, uint32_t node)
{
    return node < c->functions + c->classes ? NULL : &c->open[node - c->functions - c->classes];
}

/* Makes up for the many calls of a deep recursion: of two equal callers each has a little less than a half, so long paths would
 * otherwise seem improbable. */
#define CALLERS_EACH 2.5

/* A caller's share of a walk's probability (reach.h). */
static inline double callers_likely(const struct caller *caller)
{
    return fmin(1, CALLERS_EACH * caller->probability);
}

/* How many callers a node has, of all kinds. */
static inline uint32_t callers_count(const struct callers_node *node)
{
    return node->seen + node->fixed + node->resort;
}

#endif
