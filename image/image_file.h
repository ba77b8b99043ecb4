/*
 * image_file.h - all bytes of the file that an image was opened from; the image itself has read no debug information.
 */
#ifndef FATHOM_IMAGE_IMAGE_FILE_H
#define FATHOM_IMAGE_IMAGE_FILE_H

#include "image/image.h"

/* A copy, which the caller frees. -ESTALE: the file's code or data is not what it was when it was opened. */
int image_read_file(const struct image *image, uint8_t **data, size_t *size, struct fathom_error *err);

#endif
