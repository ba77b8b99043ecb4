/*
 * callers.h - who can have called each function, with which probability: the graph as the automaton walks it
 * (automaton.h tells how the kinds of edges are mixed).
 *
 * Nodes are the functions; the classes of calls through pointers, each between its targets and its calls; and
 * the functions that call from frames of open size once more, between what they call and themselves at any
 * of the heights that this leaves. A function has columns: 0 when nothing is known of what it called next,
 * and one for each function that training saw it call.
 *
 * Nodes that do not matter for what is asked can be taken out (near.h): those left have other numbers then.
 */
#ifndef FATHOM_INFER_MODEL_CALLERS_H
#define FATHOM_INFER_MODEL_CALLERS_H

#include "infer/model/graph.h"

#define CALLERS_UNIT 8u         /* bytes: heights and rises that are no multiple have no paths (the ABI) */
#define CALLERS_STEP 2u         /* units: frames' sizes differ by these (x86-64 psABI, section 3.2.2) */
#define CALLERS_OPEN 64u        /* sizes tried of an open frame whose function training never saw */
#define CALLERS_ROOT UINT32_MAX /* as a node: the stack's base */
#define CALLERS_NONE UINT32_MAX
#define CALLERS_LEAF UINT32_MAX /* as a column: the function called nothing, the sample is in it */

struct caller {
    uint32_t outer;  /* node, or CALLERS_ROOT */
    uint32_t column; /* of it */
    uint32_t rise;   /* units; of the root: the height */
    uint32_t edge;   /* number in the graph; CALLERS_NONE: from a function to a class */
    double probability;
};

/* What the function called next makes its callers it[first + i] this much likelier, and all others less. */
struct callers_term {
    uint32_t caller; /* after the node's first */
    double probability;
};

struct callers_pair {
    uint32_t first, count; /* terms */
    double rest;           /* factor of the probabilities of the callers that training saw */
};

struct callers_node {
    uint32_t first;               /* its callers: those that training saw, */
    uint32_t seen, fixed, resort; /* those that the binary shows, the last resorts: how many */
    uint32_t first_pair, pairs;   /* of columns 1 .. pairs */
    uint32_t leaf;                /* pair of column CALLERS_LEAF; CALLERS_NONE: as column 0 */
    uint32_t open;                /* of a function: its node as one with an open frame, or CALLERS_NONE */
    uint32_t first_callee, callees;
};

/* Who is called: the other way round. */
struct callee {
    uint32_t node, rise;
};

/* A function that calls from frames of open size. */
struct callers_open {
    uint32_t function;
    const uint32_t *units; /* heights at which training saw it, ascending; none: it was never seen */
    uint32_t count;
};

struct callers {
    uint32_t functions, classes, opens, nodes; /* nodes: the sum of them, in this order */
    struct callers_node *of;
    struct caller *callers;
    float *likely; /* by caller: its probability, whatever was called next, times EACH_CALL; 1 at most */
    struct callee *callees;
    struct callers_pair *pairs;
    struct callers_term *terms;
    struct callers_open *open;
    uint32_t *units;
    uint32_t caller_count, term_count;
    uint32_t *function_of; /* by node: the map's function; NULL: they have its numbers */
    uint32_t *node_of;     /* by the map's function: its node, or CALLERS_NONE; NULL likewise */
};

/* To be freed in any case. 0 or -ENOMEM. */
int callers_make(struct callers *callers, const struct graph *graph);
/* Makes the callees, of which there are none before, of the callers. false: out of memory. */
bool callers_turn_round(struct callers *callers);
void callers_free(struct callers *callers);

/* The node of the map's function; CALLERS_NONE: it has none. */
static inline uint32_t callers_node_of(const struct callers *c, uint32_t function)
{
    return c->node_of ? c->node_of[function] : function;
}

/* NULL: the node is none of a function that calls from frames of open size. */
static inline const struct callers_open *callers_open_of(const struct callers *c, uint32_t node)
{
    return node < c->functions + c->classes ? NULL : &c->open[node - c->functions - c->classes];
}

/* How many callers a node has, of all kinds. */
static inline uint32_t callers_count(const struct callers_node *node)
{
    return node->seen + node->fixed + node->resort;
}

static inline uint32_t callers_function_of(const struct callers *c, uint32_t node)
{
    return c->function_of ? c->function_of[node] : node;
}

#endif
