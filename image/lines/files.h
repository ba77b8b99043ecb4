/* files.h - the files with an image, its names and its lines. */
#ifndef FATHOM_IMAGE_LINES_FILES_H
#define FATHOM_IMAGE_LINES_FILES_H

#include "image/image.h"

struct image_files {
    char *image;  /* NULL: it is in memory (the vDSO) */
    char *debug;  /* its separate debug file; NULL: none */
    char *shared; /* the file into which dwz moved what debug files share; NULL: none */
};

/* malloc'd strings. Servers are queried as for lines. 0 or -ENOMEM. */
int image_files_find(const struct image *image, const struct image_options *options, struct image_files *out);
void image_files_free(struct image_files *files);

/* Private to image/: the file with the debug information, the image itself or its debug file; NULL: none. *found: a path
 * that the caller frees. */
const char *image_lines_path(const struct image *image, const struct image_options *options, char **found);
/* Uncompressed bytes of the debug information with its lines, including a package of split debug information, but
 * not single .dwo files, which are read one at a time. 0: none. */
uint64_t image_lines_size(const struct image *image, const struct image_options *options);
/* The file that dwz made for several files, for one of these: without it, some names are missing. malloc'd; NULL:
 * none. */
char *image_shared_path(const char *path, const struct image_options *options);

#endif
