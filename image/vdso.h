/* vdso.h - this process's own vDSO: that of all 64-bit processes of the running kernel. */
#ifndef FATHOM_IMAGE_VDSO_H
#define FATHOM_IMAGE_VDSO_H

#include "image/image.h"

/* Opens it; close it with image_close(). -ENOENT: this process has none. */
int vdso_open(const struct image_options *options, struct image **out, struct fathom_error *err);
/* A descriptor of a copy of it, which the caller closes, and its build-id. -ENOENT: there is none, or its
 * mapping does not have `size` bytes, so that a vDSO of that size is another one. */
int vdso_copy(uint64_t size, struct build_id *id, struct fathom_error *err);

#endif
