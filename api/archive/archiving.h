/* archiving.h - what is shared by the two ways of keeping what a recording needs: an archive, and perf's cache. */
#ifndef FATHOM_API_ARCHIVE_ARCHIVING_H
#define FATHOM_API_ARCHIVE_ARCHIVING_H

#include "api/archive/contents.h"
#include "api/archived.h"
#include "api/fathom/archive.h"
#include "api/host.h"

/* What is open. */
struct archiving {
    const struct fathom_archive_options *options;
    struct host host;
    struct archived *archived; /* the recording, unpacked; NULL: it is none */
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
/* Calls see() for each, if the kernel was sampled and is the one that runs here; if only the former, says so. */
int archive_kernel(const struct archiving *archiving,
                   int (*see)(void *context, const struct archive_kernel_file *file,
                              struct fathom_error *err),
                   void *context, struct fathom_error *err);

#endif
