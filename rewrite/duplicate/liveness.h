/*
 * liveness.h - which registers and flags may be read again, at each instruction of a function: those that code put there must
 * not change.
 *
 * Callers may rely on registers that the ABI lets a function change, if it does not (gcc's -fipa-ra): those that it never
 * writes are never free, and calls are not taken to change any.
 */
#ifndef FATHOM_REWRITE_DUPLICATE_LIVENESS_H
#define FATHOM_REWRITE_DUPLICATE_LIVENESS_H

#include "image/code/access.h"
#include "rewrite/duplicate/flow.h"

struct liveness {
    struct access *access; /* for each instruction of the unit; one that is not known reads all */
    uint32_t *before;      /* bits as in struct access: live before it */
    uint32_t capacity;
    struct access_reader *reader; /* of the owner */
    uint32_t *ends;               /* scratch: live at the end of each block */
    uint32_t end_capacity;
};

/* Replaces the previous contents. 0 or -ENOMEM. */
int liveness_make(struct liveness *live, const struct move_unit *unit, const struct flow *flow);
void liveness_free(struct liveness *live);

#endif
