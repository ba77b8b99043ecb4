/* contents.h - the contents of a recording's archive: the images and source files that its reports open. */
#ifndef FATHOM_API_ARCHIVE_CONTENTS_H
#define FATHOM_API_ARCHIVE_CONTENTS_H

#include "image/cache.h"
#include "image/kernel/layout.h"
#include "image/lines/files.h"
#include "perfdata/reader.h"

struct archive_contents;

/* Reads the recording once. images and log are borrowed. */
struct archive_reading {
    struct reader *reader;
    struct image_cache *images;
    const struct log *log;
    bool
        sources; /* also find source files: of sampled instructions, and of functions that an interpreter ran */
};
int archive_contents_read(const struct archive_reading *from, struct archive_contents **out,
                          struct fathom_error *err);
void archive_contents_free(struct archive_contents *contents); /* NULL is allowed */

struct archive_image {
    const char *path;                /* as recorded, without " (deleted)" */
    const struct build_id *recorded; /* size 0: none was recorded */
    const struct image *image;
    const struct image_files *files;
};
typedef int archive_see_image(void *context, const struct archive_image *image, struct fathom_error *err);
typedef int archive_see_source(void *context, const char *file, struct fathom_error *err);
/* Calls see() for each image that can be opened, and warns about the others. Stops if it returns a negative value. */
int archive_contents_images(struct archive_contents *contents, archive_see_image *see, void *context,
                            struct fathom_error *err);
/* Calls see() for each source file, by its name in debug information or in the interpreter. */
int archive_contents_sources(struct archive_contents *contents, archive_see_source *see, void *context,
                             struct fathom_error *err);
/* The recorded kernel; its build-id is empty if none was recorded. */
const struct kernel_layout *archive_contents_kernel(const struct archive_contents *contents);

#endif
