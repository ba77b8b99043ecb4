/*
 * image_find.h - the file to read for an image that was mapped at a path: that path's own while it is of the
 * build that was recorded, else a copy that goes by the build-id, at last one that a server has. Private to
 * image/.
 */
#ifndef FATHOM_IMAGE_IMAGE_FIND_H
#define FATHOM_IMAGE_IMAGE_FIND_H

#include "image/image.h"

#define IMAGE_OTHER_BUILD "%s is not the build that was recorded: its build-id differs"

/* expected may be empty: any build. Only headers are read. *file is malloc'd, the caller's. Errors: -ESTALE:
 * the path has another build, and no copy was found; -ENOENT: no file stands behind the path; others as
 * image_open(). */
int image_find(const char *path, const struct build_id *expected, const struct image_options *options,
               char **file, struct fathom_error *err);

#endif
