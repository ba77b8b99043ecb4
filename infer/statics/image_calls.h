/*
 * image_calls.h - the calls of images (image/calls/calls.h), read once: all folds of cross-validation ask for them, and
 * they depend on the image alone.
 */
#ifndef FATHOM_INFER_STATICS_IMAGE_CALLS_H
#define FATHOM_INFER_STATICS_IMAGE_CALLS_H

#include "image/calls/calls.h"

struct image_calls;

struct image_calls *image_calls_new(void); /* NULL: out of memory */
void image_calls_free(struct image_calls *calls);
/* The image's, which must outlive `calls`, as what is returned does not. NULL: out of memory. */
const struct calls *image_calls_of(struct image_calls *calls, const struct image *image);

#endif
