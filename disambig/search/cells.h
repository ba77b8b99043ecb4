/*
 * cells.h - which units are at which place, updated with each change of a pad, so that a pad costs as much as it
 * moves.
 *
 * A cell is a CID with the current pads: a place in a group (units.h). It is precise if all its units have the
 * same path.
 */
#ifndef FATHOM_DISAMBIG_SEARCH_CELLS_H
#define FATHOM_DISAMBIG_SEARCH_CELLS_H

#include "disambig/search/units.h"

struct cell {
    uint32_t place;
    uint32_t paths; /* of its units, counted as if all were different; 0: the cell is free */
    int64_t value;  /* of its units */
};

/* For groups with twins: to test whether all paths of a cell are equal. */
struct cell_sums {
    uint64_t sum, squares; /* of the paths' numbers */
};

/* A table of cells by place, with linear probing. */
struct cell_table {
    size_t first;
    uint32_t mask;   /* its size - 1 */
    uint32_t factor; /* the cell of a place is place * factor >> shift */
    unsigned shift;
};

struct cells {
    struct units *units; /* their places change with the pads */
    struct cell *cells;
    struct cell_sums *sums;    /* by cell; NULL: no group has twins */
    struct cell_table *tables; /* by group */
    int64_t value;             /* of all precise cells */
    uint64_t precise;          /* number of precise cells */
    uint64_t work;             /* units moved */
    bool weighted_only;        /* cells_try() ignores groups without weight */
};

/* limit: height that no pads may exceed for any unit, bytes. */
int cells_make(struct cells *cells, struct units *units, uint64_t limit, struct fathom_error *err);
void cells_clear(struct cells *cells);
/* The gain in value of each of `count` other pads of a function: gains[i] for pads[i], bytes. */
void cells_try(struct cells *cells, uint32_t function, uint32_t pad, const uint32_t *pads, uint32_t count,
               int64_t *gains);
/* Changes the function's pad. */
void cells_change(struct cells *cells, uint32_t function, uint32_t from, uint32_t to);
bool cells_unit_precise(const struct cells *cells, uint32_t unit);

#endif
