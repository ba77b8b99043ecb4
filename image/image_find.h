/*
 * image_find.h - finds the file to read for an image that was mapped at a path: the file at that path if it
 * is the recorded build, else a copy found by build-id, and finally one from a server. Private to image/.
 */
#ifndef FATHOM_IMAGE_IMAGE_FIND_H
#define FATHOM_IMAGE_IMAGE_FIND_H

#include "image/image.h"

#define IMAGE_OTHER_BUILD "%s is not the recorded build: its build-id differs"

/* expected may be empty: any build. Only headers are read. *file is malloc'd, the caller's. Errors: -ESTALE:
 * the path has another build, and no copy was found; -ENOENT: there is no file behind the path; others as
 * image_open(). */
int image_find(const char *path, const struct build_id *expected, const struct image_options *options,
               char **file, struct fathom_error *err);

#endif
