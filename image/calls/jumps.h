/*
 * jumps.h - where a function's indirect jumps lead within it: switches by tables, found by code and relocations.
 * Private to image/ and rewrite/.
 */
#ifndef FATHOM_IMAGE_CALLS_JUMPS_H
#define FATHOM_IMAGE_CALLS_JUMPS_H

#include "image/function_code.h"

struct calls_jumps;

/* The image must outlive it. 0 or -ENOMEM. */
int calls_jumps_new(const struct image *image, struct calls_jumps **out);
void calls_jumps_free(struct calls_jumps *jumps); /* NULL is allowed */

/* Adds an edge for each entry of each table. A table ends where an entry leads out of the function, so the last
 * ones may belong to another table. code: of this function with all its parts. 0 or -ENOMEM. */
int calls_jumps_follow(struct calls_jumps *jumps, uint32_t function, struct function_code *code);

#endif
