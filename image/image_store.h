/*
 * image_store.h - keeps copies of images that a report will not find at their path: files in another mount
 * namespace, deleted or replaced ones, memory files.
 *
 * They are stored by build-id in $XDG_CACHE_HOME/fathom/images (~/.cache/fathom/images), directories 0700 and
 * files 0600. A copy is written to a temporary file and renamed, so that several recorders may keep the same
 * image at once. The least recently used are removed if there are more than IMAGE_STORE_BYTES.
 */
#ifndef FATHOM_IMAGE_IMAGE_STORE_H
#define FATHOM_IMAGE_IMAGE_STORE_H

#include "image/image.h"

#define IMAGE_STORE_LARGEST (UINT64_C(256) << 20) /* bytes of one image; a larger one is not kept */
#define IMAGE_STORE_BYTES   (UINT64_C(1) << 30)   /* of all images together */

/* The path of this build's copy; malloc'd. NULL: this user has none, or out of memory. */
char *image_store_path(const struct build_id *id);
/* Keeps a copy of the file open at fd (read with pread()), unless there is one, or in its place if it was stripped and this
 * one is not. The caller has checked its build. 0; -EFBIG: too large; -ENOENT: the user has no directory for it; others. */
int image_store_keep(int fd, const struct build_id *id, struct fathom_error *err);

#endif
