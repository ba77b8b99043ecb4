/* moves.h - which units are moved by the pads of each function: fills in the blocks and moves of struct units. */
#ifndef FATHOM_DISAMBIG_SEARCH_MOVES_H
#define FATHOM_DISAMBIG_SEARCH_MOVES_H

#include "disambig/search/units.h"

/* -EFBIG: the paths hold more functions than should take up memory; -ENOMEM. */
int moves_find(struct units *units, const struct lineage_order *order, struct fathom_error *err);

#endif
