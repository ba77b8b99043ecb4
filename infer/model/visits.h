/*
 * visits.h - an unordered list of callers' nodes that walks outwards reach, with the greatest probability of such a walk; for
 * near.c and reach.c.
 */
#ifndef FATHOM_INFER_MODEL_VISITS_H
#define FATHOM_INFER_MODEL_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct visit {
    uint32_t node;
    float mass; /* the probability */
};

struct visits {
    struct visit *items; /* malloc'ed */
    size_t count, capacity;
};

/* false: out of memory. */
static inline bool visits_add(struct visits *v, uint32_t node, double mass)
{
    return vec_push(v->items, v->count, v->capacity, (struct visit){node, (float)mass});
}

#endif
