/* moves.h - which units the pads of each function move: fills in the blocks and moves of struct units. */
#ifndef FATHOM_DISAMBIG_SEARCH_MOVES_H
#define FATHOM_DISAMBIG_SEARCH_MOVES_H

#include "disambig/search/units.h"

/* -EFBIG: the paths hold more functions than memory should be spent on; -ENOMEM. */
int moves_find(struct units *units, const struct lineage_order *order, struct fathom_error *err);

#endif
