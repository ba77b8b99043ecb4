/*
 * units.h - a map as the search sees it: nodes that no pads can separate are one unit.
 *
 * Nodes of one function and height with the same counted ancestors (lineage.h), each as often, have the same
 * height with any pads. Among units of one function (a group), only differences matter: a pad moves those that
 * hold the padded function more or less often than most of the group do.
 */
#ifndef FATHOM_DISAMBIG_SEARCH_UNITS_H
#define FATHOM_DISAMBIG_SEARCH_UNITS_H

#include "disambig/ambiguity/lineage.h"
#include "disambig/search/search.h"
#include "disambig/search/worth.h"

struct unit {
    uint32_t place; /* height, relative to what the whole group shares, modulo 2^32 */
    uint32_t paths; /* 1, or 2: it has several and cannot become precise */
    int64_t value;  /* of being precise: worth.h */
};

/* Rarely needed data of a unit. */
struct unit_origin {
    uint32_t group;
    uint32_t node;        /* one of its nodes */
    uint32_t path, other; /* a function path, and another one if it has several */
    uint64_t weight;
};

/* The units of one function that has more than one. Their cells (cells.h) are in a table of their own. */
struct group {
    uint32_t function;
    uint32_t first, count; /* units */
    bool twins;            /* some have the same path, which is rare */
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
    int32_t times; /* how many of the function's pads its place grows by */
};

struct units {
    const struct search_problem *problem;
    struct unit *units;          /* by group */
    struct unit_origin *origins; /* by unit */
    uint32_t count;
    struct group *groups;
    uint32_t group_count;
    struct block *blocks; /* by function or wrap (search.h), */
    size_t *first_block;  /* index of their first block; one more of them */
    struct move *moves;
    size_t move_count;
    uint32_t functions; /* including wraps */
    uint64_t weight,
        fixed_weight;  /* of all nodes; of those whose units have no conflict and so are not in `units` */
    int64_t reachable; /* value of the units that can become precise */
};

int units_make(struct units *units, const struct search_problem *problem, const struct lineage_order *order,
               struct fathom_error *err);
void units_clear(struct units *units);

#endif
