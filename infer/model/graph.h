/*
 * graph.h - how functions were seen to call each other, and how else they can: the edges of the height automaton, with their
 * weights.
 *
 * An edge leads from a function outwards to a caller: "f was called by g, with its CFA `rise` bytes below g's". Edges from a
 * path map are counted twice: for f alone, and for f together with the function that f called next (or the sample being in f
 * itself). The latter is more specific, if it was seen often enough. Edges known only from the binary are weighted by how often
 * their callers were seen, or are expected to run given the calls before them, and call something that they were not seen to
 * call: in t / (n + t) of n runs with t callees (Witten and Bell, 1991).
 */
#ifndef FATHOM_INFER_MODEL_GRAPH_H
#define FATHOM_INFER_MODEL_GRAPH_H

#include "infer/contexts/admission.h"

/* as a caller: the stack's base; the edge's rise is then the outermost function's height */
#define GRAPH_ROOT STATIC_ROOT
#define GRAPH_LEAF (UINT32_MAX - 2) /* as "what f called next": nothing, the sample is in f */

struct graph_edge {
    uint32_t caller; /* map function, or GRAPH_ROOT */
    uint32_t rise;   /* bytes; more than 0 except for the root's */
    uint64_t site;   /* its most frequent return address, 0 unknown */
    double weight;   /* calls: training's passes, or the expected number */
    bool open;       /* the caller's frame has no fixed size: `rise` is its minimum */
    /* 1 + the last function that jumps on, whose file must be mapped for the call; 0: none */
    uint32_t through;
};

/* For qsort(): by caller, rise and `open`. */
int graph_compare_edges(const void *a, const void *b);

/* Some edges of one function, sorted by caller and rise, with the sum of their weights. */
struct graph_edges {
    const struct graph_edge *edges;
    uint32_t count;
    double weight;
};

/* By node of the map, used instead of its counts: samples at or below it, and at it. malloc'ed. */
struct graph_weights {
    double *passes, *self;
};

struct graph;

/* Which paths are considered. */
struct graph_scope {
    const struct admission *admission; /* for the map; NULL: no restriction */
    uint32_t setting;
};
/* map is borrowed; statics (NULL: none) are the calls in the binaries, copied unless training saw them, with the map's numbers of
 * functions. weights (NULL: the map's counts) are only read during the call; nodes without weight have no
 * edges. NULL: out of memory. */
struct graph *graph_new(const struct pathmap *map, const struct statics *statics,
                        const struct graph_weights *weights, struct graph_scope scope);
void graph_free(struct graph *graph);
const struct pathmap *graph_map(const struct graph *graph);

/* All edges of a function that training saw. */
struct graph_edges graph_callers(const struct graph *graph, uint32_t function);
/* The edges seen while the function called `next` (or GRAPH_LEAF); none (count 0) if that was not seen. */
struct graph_edges graph_callers_before(const struct graph *graph, uint32_t function, uint32_t next);
/* Direct calls of a function known only from the binary. */
struct graph_edges graph_static_callers(const struct graph *graph, uint32_t function);
/* Direct calls of a function from frames of open size, whether training saw them or not. */
struct graph_edges graph_open_callers(const struct graph *graph, uint32_t function);
/* The classes that have the function as a target, and the calls of one of them; weights are per target. */
uint32_t graph_classes(const struct graph *graph, uint32_t function, const uint32_t **classes);
struct graph_edges graph_class_callers(const struct graph *graph, uint32_t class_number);
uint32_t graph_class_count(const struct graph *graph);
/* The number of an edge from this graph, and the edge with a number. */
uint32_t graph_edge_number(const struct graph *graph, const struct graph_edge *edge);
const struct graph_edge *graph_edge_at(const struct graph *graph, uint32_t number);

#endif
