/*
 * image_find.h - finds the file to read for an image that was mapped at a path. Private to image/. In this order:
 *
 *   1. the opened archive (image_options.archived): .build-id/, and root/PATH or vdso for what was recorded
 *      without a build-id
 *   2. the file at the path (below image_options.symfs), if it is the recorded build
 *   3. copies by build-id: those that `fathom record` stored (image_store.h), perf's cache (build_id_cache.h)
 *   4. a debuginfod server
 *
 * Separate debug files (debug_file.h): the archive; /usr/lib/debug by build-id and the places that .gnu_debuglink
 * names; perf's cache; other files of the build that are not stripped (twins.h, and the copies above); a server.
 * fathom(1) documents both.
 */
#ifndef FATHOM_IMAGE_IMAGE_FIND_H
#define FATHOM_IMAGE_IMAGE_FIND_H

#include "image/image.h"

#define IMAGE_OTHER_BUILD "%s is not the recorded build: its build-id differs"

/* expected may be empty: any build. Reads only headers. *file is malloc'd, the caller's. Errors: -ESTALE: the
 * path has another build, and no copy was found; -ENOENT: the path names no file; others as image_open(). */
int image_find(const char *path, const struct build_id *expected, const struct image_options *options,
               char **file, struct fathom_error *err);
/* Step 2 alone. symfs: NULL: none. */
int image_find_at(const char *path, const struct build_id *expected, const char *symfs, char **file,
                  struct fathom_error *err);

#endif
