/*
 * graph.h - how functions were seen to call each other: the edges of the height automaton, with their
 * weights.
 *
 * Built from a path map. An edge leads from a function outwards to a caller: "f was called by g, with its CFA
 * `rise` bytes below g's". Edges are counted twice over: for f alone, and for f together with the function
 * that f called next (or the sample being in f itself): the caller of the caller, which tells much more where
 * it was seen often enough.
 */
#ifndef FATHOM_INFER_GRAPH_H
#define FATHOM_INFER_GRAPH_H

#include "pathmap/pathmap.h"

#define GRAPH_ROOT                                                                                           \
    (UINT32_MAX -                                                                                            \
     1) /* as a caller: the stack's base; the edge's rise is then the outermost function's height */
#define GRAPH_LEAF (UINT32_MAX - 2) /* as "what f called next": nothing, the sample is in f */

struct graph_edge {
    uint32_t caller; /* map function, or GRAPH_ROOT */
    uint32_t rise;   /* bytes; above 0 but for the root's */
    uint64_t site;   /* the return address most seen with it, 0 unknown */
    double weight;   /* training's passes */
};

/* Some edges of one function with the sum of their weights. */
struct graph_edges {
    const struct graph_edge *edges;
    uint32_t count;
    double weight;
};

/* A call that the binary shows, whether or not training saw it. */
struct graph_call {
    uint32_t callee;        /* map function */
    struct graph_edge edge; /* its weight is not used */
};

struct graph;

/* map is borrowed; calls (count of them) are copied, but for those that training saw. NULL: out of memory. */
struct graph *graph_new(const struct pathmap *map, const struct graph_call *calls, size_t count);
void graph_free(struct graph *graph);
/* All edges of a function; the more often seen first. */
struct graph_edges graph_callers(const struct graph *graph, uint32_t function);
/* Calls of a function that only the binary shows, weighted by how often their callers were seen. A function
 * of a hooked image has none: training saw all its calls. */
struct graph_edges graph_static_callers(const struct graph *graph, uint32_t function);
/* Whether a path to the function can have this height as far as training tells: always, but for a function of
 * a hooked image. Asked of callers at the end of a static edge. */
bool graph_possible(const struct graph *graph, uint32_t function, uint32_t height);
/* The map's nodes (*first .. *first + count - 1) of a hooked image's function at this height: training saw
 * all calls, so these are the paths and no others are looked for. 0 when the image is not hooked, or the map
 * has none. */
uint32_t graph_exact(const struct graph *graph, uint32_t function, uint32_t height, uint32_t *first);
const struct pathmap *graph_map(const struct graph *graph);
/* Those seen when `next` was what the function called (or GRAPH_LEAF); none (count 0) when that was not seen.
 */
struct graph_edges graph_callers_before(const struct graph *graph, uint32_t function, uint32_t next);

#endif
