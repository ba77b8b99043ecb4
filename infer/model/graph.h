/*
 * graph.h - how functions were seen to call each other, and how else they can: the edges of the height
 * automaton, with their weights.
 *
 * An edge leads from a function outwards to a caller: "f was called by g, with its CFA `rise` bytes below
 * g's". Those of a path map are counted twice over: for f alone, and for f together with the function that f
 * called next (or the sample being in f itself): the caller of the caller, which tells much more where it was
 * seen often enough. Those that only the binary shows are weighted by how often their callers were seen, or
 * are likely to run as far as the calls before them tell, and call what they were not seen to call: once in
 * t / (n + t) of n runs that had t callees (Witten and Bell, 1991).
 */
#ifndef FATHOM_INFER_MODEL_GRAPH_H
#define FATHOM_INFER_MODEL_GRAPH_H

#include "infer/contexts/admission.h"

#define GRAPH_ROOT                                                                                           \
    (UINT32_MAX -                                                                                            \
     1) /* as a caller: the stack's base; the edge's rise is then the outermost function's height */
#define GRAPH_LEAF (UINT32_MAX - 2) /* as "what f called next": nothing, the sample is in f */

struct graph_edge {
    uint32_t caller; /* map function, or GRAPH_ROOT */
    uint32_t rise;   /* bytes; above 0 but for the root's */
    uint64_t site;   /* the return address most seen with it, 0 unknown */
    double weight;   /* calls: training's passes, or what is expected */
    bool open;       /* the caller's frame has no fixed size: `rise` is the least that it can be */
    uint32_t
        through; /* one more than a function that must be mapped for the call: the last that jumps on; 0: none */
};

/* For qsort(): by caller, rise and `open`. */
int graph_compare_edges(const void *a, const void *b);

/* Some edges of one function with the sum of their weights, by caller and rise. */
struct graph_edges {
    const struct graph_edge *edges;
    uint32_t count;
    double weight;
};

/* A call that the binary shows, whether or not training saw it. Weight: how many such calls come of one run
 * of the caller, 1 when nothing is known. */
struct graph_call {
    uint32_t callee; /* map function */
    struct graph_edge edge;
};

/* Calls through pointers, each of which can lead to any of the targets: kept once for all of them. Weight:
 * how likely it is to lead to one of them at all. */
struct graph_class {
    struct graph_edge *callers;
    size_t caller_count;
    uint32_t *targets; /* map functions, each once */
    size_t target_count;
};

struct graph_calls {
    struct graph_call *calls;
    size_t count;
    struct graph_class *classes;
    size_t class_count;
    uint32_t *ends; /* map functions that never return: hardly ever called */
    size_t end_count;
};

/* By the map's nodes, instead of its counts: samples at or below each, and at it. malloc'ed. */
struct graph_weights {
    double *passes, *self;
};

struct graph;

/* Where the paths are to be. */
struct graph_scope {
    const struct admission *admission; /* of the map; NULL: anywhere */
    uint32_t setting;
};
/* map is borrowed; calls (NULL: none), which are in order (graph_statics.h), are copied, but for those that training saw. Numbers of functions in
 * them are the map's. weights (NULL: the map's counts) are read, and need not stay; nodes without weight have no
 * edges. NULL: out of memory. */
struct graph *graph_new(const struct pathmap *map, const struct graph_calls *calls,
                        const struct graph_weights *weights, struct graph_scope scope);
/* The map's calls alone: graph_callers_before() finds none. */
struct graph *graph_new_alone(const struct pathmap *map);
void graph_free(struct graph *graph);
const struct pathmap *graph_map(const struct graph *graph);

/* All edges of a function that training saw. */
struct graph_edges graph_callers(const struct graph *graph, uint32_t function);
/* Those seen when `next` was what the function called (or GRAPH_LEAF); none (count 0) when that was not
 * seen. */
struct graph_edges graph_callers_before(const struct graph *graph, uint32_t function, uint32_t next);
/* Direct calls of a function that only the binary shows. */
struct graph_edges graph_static_callers(const struct graph *graph, uint32_t function);
/* Direct calls of a function from frames of open size, whether training saw them or not. */
struct graph_edges graph_open_callers(const struct graph *graph, uint32_t function);
/* The classes that the function is a target of, and the calls of one; weights are for each target. */
uint32_t graph_classes(const struct graph *graph, uint32_t function, const uint32_t **classes);
struct graph_edges graph_class_callers(const struct graph *graph, uint32_t class_number);
uint32_t graph_class_count(const struct graph *graph);
/* An edge that was handed out by its number, and back. */
uint32_t graph_edge_number(const struct graph *graph, const struct graph_edge *edge);
const struct graph_edge *graph_edge_at(const struct graph *graph, uint32_t number);

#endif
