/* archive.h - declarations shared by the files of `fathom archive`. */
#ifndef FATHOM_CLI_ARCHIVE_H
#define FATHOM_CLI_ARCHIVE_H

#include "cli/archive_contents.h"
#include "cli/archived.h"
#include "cli/terminal.h"

struct archive_options {
    const char *input, *map, *output, *symfs;
    bool no_debug, no_cache, sources, cache;
};

/* What the command has opened. */
struct archiving {
    const struct archive_options *options;
    struct terminal *terminal;
    struct archived *archived; /* the input of --cache may be an archive */
    struct debuginfod *debuginfod;
    struct image_cache *images;
    struct reader *reader;
    struct archive_contents *contents;
};

/* archive_pack.c: makes the archive. */
int archive_pack(const struct archiving *archiving, struct fathom_error *err);
/* archive_cache.c: fills perf's cache. */
int archive_cache(const struct archiving *archiving, struct fathom_error *err);

/* archive_kernel.c: a file with names of the recorded kernel, for image/kernel/running.h. */
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
