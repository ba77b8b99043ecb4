/*
 * function_parts.h - where the code of a function is: its own range, its .cold parts, and what its jumps lead to outside, where neither
 * symbols nor FDEs say whose code that is. Private to image/.
 *
 * A part goes from where a jump leads to the first instruction that does not continue, and as far as short branches lead ahead. A
 * function that begins there, or code that has a name or an FDE, is no part.
 */
#ifndef FATHOM_IMAGE_FUNCTION_PARTS_H
#define FATHOM_IMAGE_FUNCTION_PARTS_H

#include "image/function_code.h"
#include "image/no_return.h"

struct cold_part {
    uint32_t owner, function;
};

struct function_parts {
    const struct image *image; /* borrowed, as is the next */
    struct no_return *no_return;
    struct function_part *items; /* of one function; by address, not overlapping */
    uint32_t count, capacity;
    struct function_part whole; /* the function's own range */
    struct cold_part *cold;     /* all functions that are part of another, by that */
    uint32_t cold_count, cold_capacity;
};

/* no_return: NULL if function_parts_add() is not called. 0 or -ENOMEM. */
int function_parts_open(const struct image *image, struct no_return *no_return, struct function_parts *out);
void function_parts_close(struct function_parts *parts);
/* Replaces the items by the function's that are known without reading its code, but for those whose rows unwind tables tell. 0 or -ENOMEM. */
int function_parts_find(struct function_parts *parts, uint32_t function);
/* Likewise, with those whose rows unwind tables tell. */
int function_parts_all(struct function_parts *parts, uint32_t function);
/* Whether what is at an address outside of the items is a part of a function that goes on there. */
bool function_parts_leads(const struct function_parts *parts, uint64_t address);
/* Adds that part, unless an earlier one has the address. 0 or -ENOMEM. */
int function_parts_add(struct function_parts *parts, uint64_t address);
/* Whether an address in one of the items is in one that was added. */
bool function_parts_followed(const struct function_parts *parts, uint64_t address);

#endif
