/*
 * units.h - a map as the search sees it: nodes that no pads can part are one unit.
 *
 * Nodes of one function and height with the same counted ancestors (lineage.h), each as often, always have the same new
 * height. Of units of one function (a group), only differences matter: a pad moves those that hold the padded function more
 * or less often than most of the group do.
 */
#ifndef FATHOM_DISAMBIG_SEARCH_UNITS_H
#define FATHOM_DISAMBIG_SEARCH_UNITS_H

#include "disambig/ambiguity/lineage.h"
#include "disambig/search/search.h"
#include "disambig/search/worth.h"

struct unit {
    uint32_t place; /* height, relative to what all of the group share, modulo 2^32 */
    uint32_t paths; /* 1, or 2: it has several, and cannot become precise */
    int64_t value;  /* what it is worth to be precise: worth.h */
};

/* What is needed of a unit less often. */
struct unit_origin {
    uint32_t group;
    uint32_t node;        /* one of its nodes */
    uint32_t path, other; /* a function path, and another one if it has several */
    uint64_t weight;
};

/* The units of one function with more than one unit. Their cells (cells.h) are in a table of their own. */
struct group {
    uint32_t function;
    uint32_t first, count; /* units */
    bool twins;            /* some of them have the same path, which is rare */
    bool weighted;         /* any of them has weight */
};

/* How a function's pads move the units of one group. */
struct block {
    uint32_t group;
    uint32_t count;
    size_t first; /* of its moves */
};

struct move {
    uint32_t unit;
    int32_t times; /* by how many pads of the function its place grows */
};

struct units {
    const struct search_problem *problem;
    struct unit *units;          /* by group */
    struct unit_origin *origins; /* by unit */
    uint32_t count;
    struct group *groups;
    uint32_t group_count;
    struct block *blocks; /* by function or wrap (search.h), */
    size_t *first_block;  /* whose begin here; one more of them */
    struct move *moves;
    size_t move_count;
    uint32_t functions; /* with the wraps */
    uint64_t weight,
        fixed_weight; /* of all nodes; of those whose units have no conflict and are not counted in `units` */
    int64_t reachable; /* value of the units that can become precise */
};

int units_make(struct units *units, const struct search_problem *problem, const struct lineage_order *order,
               struct fathom_error *err);
void units_clear(struct units *units);

#endif
