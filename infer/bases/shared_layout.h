/*
 * shared_layout.h - finds stacks that have the same layout (internal to infer/).
 *
 * Coroutine libraries allocate all stacks in the same way, so that their bases are at the same offset from the start of a page.
 * This offset determines the base of a place whose few samples fit several. At least three stacks have to agree on it, and at
 * most three quarters of that many, or all but two, on any other. The known stacks decide if there are enough of them, else all
 * places with their possible bases.
 */
#ifndef FATHOM_INFER_BASES_SHARED_LAYOUT_H
#define FATHOM_INFER_BASES_SHARED_LAYOUT_H

#include "infer/bases/shared_positions.h"
#include "infer/bases/shared_stacks.h"

#define LAYOUT_QUORUM 3 /* minimum number of stacks for a layout */

/* Adds the stacks implied by the layout of the known ones and of the remaining positions; *won grows by their
 * number. Skips places with too many possible bases. 0 or -ENOMEM. */
int shared_layout_settle(struct positions *positions, struct shared_stacks *stacks, uint64_t *won);

#endif
