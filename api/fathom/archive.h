/*
 * archive.h - a recording with all that a report of it needs, in one file; or its binaries in the cache that perf reads.
 */
#ifndef FATHOM_ARCHIVE_H
#define FATHOM_ARCHIVE_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_archive_options {
    const char *recording; /* a file, or a directory of several; fathom_archive_fill_cache(): or an archive */
    const char *symfs;     /* programs, libraries and debug files are looked for below it; NULL: "/" */
    bool no_debug;         /* without separate debug files */
    /* The rest is of fathom_archive_write() alone. */
    const char *output; /* NULL: the recording's name with ".tar.zst"; "-": standard output */
    const char *map;    /* a path map's file, for its reports; NULL: none */
    bool no_cache;      /* without what other recordings of the same programs learned */
    bool sources;       /* the sources of sampled instructions, and of functions that an interpreter ran */
    FATHOM_RESERVED;
};

/* Both warn of what cannot be found. *other_build: where they return 0, whether files of another build were met, which are left
 * out. Errors: those of files; -EINVAL: the recording is an archive already, or the output would replace what is read; -ENOMSG,
 * -EBADMSG, -ENOTSUP: no recording or map, damaged, unsupported format. */
FATHOM_API int fathom_archive_write(const struct fathom_archive_options *options,
                                    const struct fathom_listener *listener, bool *other_build,
                                    struct fathom_error *error);
/* Puts programs, libraries and debug files into $PERF_BUILDID_DIR or ~/.debug. An archive is unpacked as by fathom_report_open().
 * -ENOENT: there is no such directory. */
FATHOM_API_MT_UNSAFE int fathom_archive_fill_cache(const struct fathom_archive_options *options,
                                                   const struct fathom_listener *listener, bool *other_build,
                                                   struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
