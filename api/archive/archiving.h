/* archiving.h - shared by the two ways of keeping the files of a recording: an archive, and perf's cache. */
#ifndef FATHOM_API_ARCHIVE_ARCHIVING_H
#define FATHOM_API_ARCHIVE_ARCHIVING_H

#include "api/archive/contents.h"
#include "api/archived.h"
#include "api/fathom/archive.h"
#include "api/host.h"

/* Everything that is open. */
struct archiving {
    const struct fathom_archive_options *options;
    struct host host;
    struct archived *archived; /* the recording, unpacked; NULL: it is not an archive */
    struct debuginfod *debuginfod;
    struct image_cache *images;
    struct reader *reader;
    struct archive_contents *contents;
};

/* pack.c: makes the archive. */
int archive_pack(const struct archiving *archiving, struct fathom_error *err);
/* cache.c: fills perf's cache. */
int archive_cache(const struct archiving *archiving, struct fathom_error *err);

/* kernel.c: a file with names of the recorded kernel, for image/kernel/running.h. */
struct archive_kernel_file {
    const char *name, *path; /* "kallsyms", "/proc/kallsyms" */
    const char *text;
    size_t size;
};
typedef int archive_see_kernel(void *context, const struct archive_kernel_file *file,
                               struct fathom_error *err);
/* Calls see() for each file if the kernel was sampled; if another kernel runs here, only warns. */
int archive_kernel(const struct archiving *archiving, archive_see_kernel *see, void *context,
                   struct fathom_error *err);

#endif
