/*
 * code_past.h - code that was replaced by other code, by where and until when it was there. Private to image/.
 *
 * The pieces are in order of their addresses, over which there is a tree: the middle one of a range is its root, and has the furthest end of all in
 * the range. So what is at an address is found in a time that grows with how much of it there was, and that is bounded.
 */
#ifndef FATHOM_IMAGE_MADE_CODE_PAST_H
#define FATHOM_IMAGE_MADE_CODE_PAST_H

#include <stdbool.h>

#include "image/made/code_names.h"

struct code_past {                       /* zeros: there was none */
    const struct code_names_past *items; /* borrowed */
    uint32_t count;
    uint64_t *reach;   /* by item: the furthest end in its range */
    uint64_t *changes; /* when they were replaced, ascending */
};

/* Of pieces by address. false: out of memory. */
bool code_past_make(struct code_past *past, const struct code_names_past *items, uint32_t count);
void code_past_clear(struct code_past *past);
/* What was there at a time, and is no longer; NULL: nothing, or it takes too long to find. */
const struct code_names_past *code_past_at(const struct code_past *past, uint64_t pc, uint64_t time);
/* The first time after this one at which something was replaced; UINT64_MAX: none. */
uint64_t code_past_change(const struct code_past *past, uint64_t time);

#endif
