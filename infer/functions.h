/*
 * functions.h - from an image's function to the number that a map or a trie has for it, remembered per image
 * (internal to infer/).
 *
 * One array per image, filled as functions are asked for.
 */
#ifndef FATHOM_INFER_FUNCTIONS_H
#define FATHOM_INFER_FUNCTIONS_H

#include "image/image.h"

#define FUNCTIONS_UNSET (UINT32_MAX - 1)

struct functions;

struct functions_image {
    const struct image *image;
    uint32_t number;     /* whatever the user of the table keeps; FUNCTIONS_UNSET at first */
    uint32_t *functions; /* by image function index; FUNCTIONS_UNSET at first */
};

struct functions *functions_new(void); /* NULL: out of memory */
void functions_free(struct functions *functions);
/* The image's entry, made when it is new; NULL: out of memory. Stays where it is. */
struct functions_image *functions_of(struct functions *functions, const struct image *image);

#endif
