/*
 * image_store.h - stores copies of images that a report will not find at their path: files in another mount
 * namespace, deleted or replaced ones, memory files.
 *
 * They are in $XDG_CACHE_HOME/fathom/images (~/.cache/fathom/images) by build-id, with directories 0700 and files
 * 0600. A copy is written to a temporary file and renamed, so that several recorders may store the same image at
 * once. If there are more than IMAGE_STORE_BYTES, the least recently used ones are removed.
 */
#ifndef FATHOM_IMAGE_IMAGE_STORE_H
#define FATHOM_IMAGE_IMAGE_STORE_H

#include "image/image.h"

#define IMAGE_STORE_LARGEST (UINT64_C(256) << 20) /* bytes; larger images are not stored */
#define IMAGE_STORE_BYTES   (UINT64_C(1) << 30)   /* of all images together */

/* The path of this build's copy; malloc'd. NULL: this user has none, or out of memory. */
char *image_store_path(const struct build_id *id);
/* Stores a copy of the file open at fd (read with pread()), unless there is one; a stripped copy is replaced by a
 * file that is not. The caller has checked the file's build. 0; -EFBIG: too large; -ENOENT: the user has no
 * directory for it; others. */
int image_store_keep(int fd, const struct build_id *id, struct fathom_error *err);

#endif
