/*
 * pointed.h - the calls through pointers that could lead to copies, and the cost of that: a guard for each copy,
 * executed by all calls at the place that reach it (selective edge instrumentation: ICPP paper, section 5.4;
 * move/move.h).
 *
 * An edge is a body and a function that it calls through pointers, at one or several places.
 */
#ifndef FATHOM_DISAMBIG_CLONE_POINTED_H
#define FATHOM_DISAMBIG_CLONE_POINTED_H

#include "disambig/clone/cloned_map.h"
#include "disambig/clone/redirects.h"

#define POINTED_FULL UINT64_MAX

struct pointed_place { /* a call instruction of a body */
    uint32_t body;
    uint32_t guards;
    uint64_t site;  /* return address in the original file */
    uint64_t calls; /* calls in the map */
};

struct pointed_edge {
    uint32_t caller;   /* body */
    uint32_t function; /* of the map */
    uint32_t place;
};

struct pointed {
    struct pointed_edge *items; /* by caller, function, place */
    struct pointed_place *places;
    uint32_t count, capacity, place_count, place_capacity;
};

/* Finds them, and counts the guards that the bodies have. -ENOMEM. */
int pointed_find(const struct pathmap *map, const struct redirects *redirectors, const struct bodies *bodies,
                 const struct cloned_map *cloned, struct pointed *out, struct fathom_error *err);
void pointed_clear(struct pointed *edges); /* zeros are allowed */

/* How many more guards are executed, by the map's calls, if the caller's calls of a body are led to a copy of it;
 * 0 also if they are direct. POINTED_FULL: a place cannot have another guard. */
uint64_t pointed_cost(const struct pointed *edges, const struct bodies *bodies, uint32_t caller,
                      uint32_t body);
/* Adds guards to an edge that had none. */
void pointed_add_guards(struct pointed *edges, uint32_t caller, uint32_t function);

struct pointed_sum {
    uint32_t possible; /* call instructions that can have guards, counted in each copy */
    uint32_t places;   /* those with guards */
    uint64_t calls;    /* calls in the map at these */
    uint64_t executed; /* maximal number of guards executed */
};

struct pointed_sum pointed_sum(const struct pointed *edges);

#endif
