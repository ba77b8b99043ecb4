/*
 * image_store.h - copies of images that nobody will find at their path when a report is made: files of
 * another mount namespace, deleted or replaced ones, memory files.
 *
 * They lie under their build-id in $XDG_CACHE_HOME/fathom/images (~/.cache/fathom/images), directories 0700
 * and files 0600. A copy is written beside and renamed, so that several recorders may keep the same image at
 * once. What was kept and used longest ago goes when there are more than IMAGE_STORE_BYTES.
 */
#ifndef FATHOM_IMAGE_IMAGE_STORE_H
#define FATHOM_IMAGE_IMAGE_STORE_H

#include "image/image.h"

#define IMAGE_STORE_LARGEST (UINT64_C(256) << 20) /* bytes of one image; a larger one is not kept */
#define IMAGE_STORE_BYTES   (UINT64_C(1) << 30)   /* of all together */

/* Where the copy of this build lies; malloc'd. NULL: there is none of this user's own, or out of memory. */
char *image_store_path(const struct build_id *id);
/* Keeps a copy of the file that is open at fd (read by pread()), if there is none. The caller knows that it
 * is of this build. 0; -EFBIG: it is too large; -ENOENT: the user has no directory for it; others. */
int image_store_keep(int fd, const struct build_id *id, struct fathom_error *err);

#endif
