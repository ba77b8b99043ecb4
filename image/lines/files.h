/* files.h - the files that an image, its names and its lines are read from. */
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
/* Bytes of debug information that its lines are read from, unpacked, with a package of split debug information but without
 * single files of it (.dwo), which are read one at a time. 0: it has none. */
uint64_t image_lines_size(const struct image *image, const struct image_options *options);
/* dwz's shared file of a file with debug information: without it, some names are missing. malloc'd; NULL: none. */
char *image_shared_path(const char *path, const struct image_options *options);

#endif
