/*
 * edits.h - the edits of a function that is emitted anew (move/move.h) with a larger frame: the numbers and added
 * instructions that growth/ finds, and from where on the CFA is further from SP.
 */
#ifndef FATHOM_REWRITE_EDITS_H
#define FATHOM_REWRITE_EDITS_H

#include "rewrite/growth/unit.h"
#include "rewrite/move/move.h"
#include "rewrite/pads.h"

struct edits {
    struct move_edit *at; /* ascending by address; the caller frees it */
    size_t count, capacity;
};

/* All edits of a function that is emitted with a pad. u: scratch, of unit_analyse(). `to` is empty before.
 * -EINVAL: the frame is not understood; -ENOMEM. */
int edits_make(struct unit *u, const struct growth *growth, const struct pad *pad, struct edits *to);

/* The return address of a direct call that can be wrapped. 0: it cannot, as it is no direct call, or is the last
 * instruction of its part of the function, behind which SP could not be restored. */
uint64_t edits_behind_call(const struct image *image, uint64_t site);
/* Adds the edits that wrap calls of that function, in the same copy. wraps: ascending by site. -EINVAL: one
 * cannot be wrapped. */
int edits_wrap(const struct image *image, const struct wrap *wraps, size_t count, struct edits *to);

#endif
