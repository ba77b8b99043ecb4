/*
 * shared_layout.h - stacks that are laid out alike (internal to infer/).
 *
 * What makes coroutines gives all of them stacks of one kind, so that their bases lie equally far above the
 * beginning of a page. This distance tells the base of a place whose few samples fit several. At least three
 * stacks have to agree on it, and at most three quarters of that many, or all but two, on any other: the
 * stacks that are known when these are enough, else all places with the bases that they can have.
 */
#ifndef FATHOM_INFER_BASES_SHARED_LAYOUT_H
#define FATHOM_INFER_BASES_SHARED_LAYOUT_H

#include "infer/bases/shared_ground.h"
#include "infer/bases/shared_stacks.h"

#define LAYOUT_QUORUM 3 /* stacks that a layout needs at least */

/* Adds the stacks that the layout of the known ones and of the spots that are left tells; *won grows by their
 * number. A place with too many possible bases is left as it is. 0 or -ENOMEM. */
int shared_layout_settle(struct ground *ground, struct shared_stacks *stacks, uint64_t *won);

#endif
