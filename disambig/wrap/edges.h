/*
 * edges.h - the calls of a map that can be wrapped. All direct calls of one function by another, or by one copy
 * of it, are an edge: they are wrapped together, as paths do not distinguish them.
 *
 * Functions reached from a call by jumps (tail calls) have its call site, and move with it.
 */
#ifndef FATHOM_DISAMBIG_WRAP_EDGES_H
#define FATHOM_DISAMBIG_WRAP_EDGES_H

#include "disambig/bodies.h"
#include "disambig/map_frames.h"
#include "disambig/wrap/callees.h"
#include "image/calls/calls.h"

struct wrap_edges_of { /* all borrowed */
    const struct map_frames_of *of;
    const struct map_frames *frames;
    const struct pathmap *map;   /* of->map, or a map made from it (clone/cloned_map.h), */
    const struct bodies *bodies; /* and what its functions are copies of; NULL: no copies */
};

struct wrap_edge {
    uint32_t caller; /* function of the map */
    uint32_t callee; /* function of the image */
    uint64_t calls;  /* in the map */
    /* Call sites in the map; one in several copies of a function counts once. */
    uint32_t sites;
};

struct wrap_edges {
    struct wrap_edge *items;
    uint32_t count, capacity;
    /* The edge of the call that leads to the node; PATHMAP_NONE: none that can be wrapped. */
    uint32_t *by_node;
    uint32_t possible;               /* call sites in the map, each counted once, */
    uint32_t refused[WRAP_REFUSALS]; /* and those that cannot be wrapped, by reason */
};

/* -ENOMEM. */
int wrap_edges_find(const struct wrap_edges_of *of, struct wrap_edges *out, struct fathom_error *err);
void wrap_edges_clear(struct wrap_edges *edges); /* zeros are allowed */

/* The function of the image that a function of the map is, or is a copy of; IMAGE_NO_FUNCTION: in another image. */
uint32_t wrap_edges_function(const struct wrap_edges_of *of, uint32_t function);

/* Lists all call sites of an edge, with the same number of bytes each. Appends to *list. false: out of memory. */
bool wrap_edges_list(const struct wrap_edges_of *of, const struct calls *calls, const struct wrap_edge *edge,
                     uint32_t bytes, struct wrap **list, size_t *count, size_t *capacity);
/* Sorts wraps as enlarge.h requires. */
void wrap_edges_sort(struct wrap *list, size_t count);

#endif
