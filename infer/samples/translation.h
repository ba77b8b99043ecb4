/*
 * translation.h - from an image's function to the number that a map or a trie has for it, remembered per
 * image (internal to infer/).
 *
 * One array per image, filled as functions are asked for.
 */
#ifndef FATHOM_INFER_SAMPLES_TRANSLATION_H
#define FATHOM_INFER_SAMPLES_TRANSLATION_H

#include "image/image.h"

#define TRANSLATION_UNSET (UINT32_MAX - 1)

struct translation;

struct translation_image {
    const struct image *image;
    uint32_t number;     /* whatever the user of the table keeps; TRANSLATION_UNSET at first */
    uint32_t *functions; /* by image function index; TRANSLATION_UNSET at first */
};

struct translation *translation_new(void); /* NULL: out of memory */
void translation_free(struct translation *translation);
/* The image's entry, made when it is new; NULL: out of memory. Stays where it is. */
struct translation_image *translation_of(struct translation *translation, const struct image *image);

#endif
