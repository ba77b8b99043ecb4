/*
 * liveness.h - which registers and flags may still be read at each instruction of a function, so that inserted
 * code must not change them.
 *
 * Callers may rely on a function that does not change registers which the ABI lets it change (gcc's -fipa-ra):
 * those that it never writes are never free, and calls are assumed to change none.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_LIVENESS_H
#define FATHOM_REWRITE_DUPLICATE_LIVENESS_H

#include "image/code/access.h"
#include "rewrite/duplicate/flow.h"

struct liveness {
    struct access *access; /* by instruction of the unit; an unknown instruction reads everything */
    uint32_t *before;      /* live before the instruction; bits as in struct access */
    uint32_t capacity;
    uint32_t *ends; /* scratch: live at each block's end */
    uint32_t end_capacity;
};

/* Replaces the previous contents. 0 or -ENOMEM. */
int liveness_make(struct liveness *live, const struct move_unit *unit, const struct flow *flow);
void liveness_free(struct liveness *live);

#endif
