/* vdso.h - this process's own vDSO as an image. Private to image/. */
#ifndef FATHOM_IMAGE_VDSO_H
#define FATHOM_IMAGE_VDSO_H

#include "image/image.h"

/* -ENOENT: this process has none. */
int vdso_open(const struct image_options *options, struct image **out, struct fathom_error *err);

#endif
