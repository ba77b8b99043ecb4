/*
 * image_file.h - reads all bytes of the file that an image was opened from, including debug information, which
 * the image itself does not read.
 */
#ifndef FATHOM_IMAGE_IMAGE_FILE_H
#define FATHOM_IMAGE_IMAGE_FILE_H

#include "image/image.h"

/* A copy, which the caller frees. -ESTALE: the file's code or data has changed since the image was opened. */
int image_read_file(const struct image *image, uint8_t **data, size_t *size, struct fathom_error *err);

#endif
