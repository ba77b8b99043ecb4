/*
 * translation.h - translates an image's functions to their numbers in a map or a trie, cached per image
 * (internal to infer/).
 *
 * One array per image, filled on demand.
 */
#ifndef FATHOM_INFER_SAMPLES_TRANSLATION_H
#define FATHOM_INFER_SAMPLES_TRANSLATION_H

#include "image/image.h"

#define TRANSLATION_UNSET (UINT32_MAX - 1)

struct translation;

struct translation_image {
    const struct image *image;
    uint32_t number;     /* for the table's user; TRANSLATION_UNSET at first */
    uint32_t *functions; /* by image function index; TRANSLATION_UNSET at first */
};

struct translation *translation_new(void); /* NULL: out of memory */
void translation_free(struct translation *translation);
/* The image's entry, created if new; NULL: out of memory. Never moves. */
struct translation_image *translation_of(struct translation *translation, const struct image *image);

#endif
