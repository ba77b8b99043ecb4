/* vdso.h - this process's own vDSO, which all 64-bit processes of the running kernel share. */
#ifndef FATHOM_IMAGE_VDSO_H
#define FATHOM_IMAGE_VDSO_H

#include "image/image.h"

/* Opens it; close it with image_close(). -ENOENT: this process has none. */
int vdso_open(const struct image_options *options, struct image **out, struct fathom_error *err);
/* A descriptor of a copy of it, which the caller closes, and its build-id. -ENOENT: there is none, or its mapping
 * is not `size` bytes long, so a vDSO of that size is a different one. */
int vdso_copy(uint64_t size, struct build_id *id, struct fathom_error *err);

#endif
