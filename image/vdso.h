/* vdso.h - this process's own vDSO: that of all 64-bit processes of the running kernel. */
#ifndef FATHOM_IMAGE_VDSO_H
#define FATHOM_IMAGE_VDSO_H

#include "image/image.h"

/* Opens it, to be closed by image_close(). -ENOENT: this process has none. */
int vdso_open(const struct image_options *options, struct image **out, struct fathom_error *err);
/* A descriptor of a copy of it, the caller's, and its build-id. -ENOENT: there is none, or it is not mapped with
 * `size` bytes, so that the vDSO whose mapping has that size is another. */
int vdso_copy(uint64_t size, struct build_id *id, struct fathom_error *err);

#endif
