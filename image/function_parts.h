/*
 * function_parts.h - where a function's code is: its own range, its .cold parts, and the code outside that its
 * jumps lead to, where neither symbols nor FDEs say which function that belongs to. Private to image/.
 *
 * Such a part extends from the jump's target to the first instruction that does not continue, beyond that as far
 * as short branches lead ahead. A function's first instruction, or code with a name or an FDE, begins no part.
 */
#ifndef FATHOM_IMAGE_FUNCTION_PARTS_H
#define FATHOM_IMAGE_FUNCTION_PARTS_H

#include "image/function_code.h"
#include "image/no_return.h"

struct cold_part {
    uint32_t owner, function;
};

struct function_parts {
    const struct image *image; /* image and no_return are borrowed */
    struct no_return *no_return;
    struct function_part *items; /* the current function's, by address, not overlapping */
    uint32_t count, capacity;
    struct function_part whole; /* the function's own range */
    struct cold_part *cold;     /* all functions that are part of another, sorted by that one */
    uint32_t cold_count, cold_capacity;
};

/* no_return: NULL if function_parts_add() is not called. 0 or -ENOMEM. */
int function_parts_open(const struct image *image, struct no_return *no_return, struct function_parts *out);
void function_parts_close(struct function_parts *parts);
/* Replaces the items by those parts of the function that are known without reading its code, except those with
 * rows from unwind tables. 0 or -ENOMEM. */
int function_parts_find(struct function_parts *parts, uint32_t function);
/* The same, including those with rows from unwind tables. */
int function_parts_all(struct function_parts *parts, uint32_t function);
/* Whether the code at an address outside of the items would be a part of the function. */
bool function_parts_leads(const struct function_parts *parts, uint64_t address);
/* Adds that part, unless an earlier one has the address. 0 or -ENOMEM. */
int function_parts_add(struct function_parts *parts, uint64_t address);
/* Whether the address is in a part added by function_parts_add(). */
bool function_parts_followed(const struct function_parts *parts, uint64_t address);

#endif
