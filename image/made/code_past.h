/*
 * code_past.h - code that was replaced by other code, by address and time. Private to image/.
 *
 * The pieces are sorted by address and form a tree: the middle one of a range is its root, and stores the
 * furthest end in the range. So finding the code at an address takes time in proportion to how much code was
 * there, within a bound.
 */
#ifndef FATHOM_IMAGE_MADE_CODE_PAST_H
#define FATHOM_IMAGE_MADE_CODE_PAST_H

#include <stdbool.h>

#include "image/made/code_names.h"

struct code_past {                       /* zeroed: empty */
    const struct code_names_past *items; /* borrowed */
    uint32_t count;
    uint64_t *reach;   /* by item: the furthest end in its range */
    uint64_t *changes; /* the times at which they were replaced, ascending */
};

/* Builds the tree of pieces sorted by address. false: out of memory. */
bool code_past_make(struct code_past *past, const struct code_names_past *items, uint32_t count);
void code_past_clear(struct code_past *past);
/* The code at a PC at a time, if it was replaced later; NULL: none, or the search takes too long. */
const struct code_names_past *code_past_at(const struct code_past *past, uint64_t pc, uint64_t time);
/* The next time at which something was replaced; UINT64_MAX: none. */
uint64_t code_past_change(const struct code_past *past, uint64_t time);

#endif
