/*
 * archive.h - packs a recording and everything a report of it needs into one file, or puts its binaries into the cache that perf reads.
 */
#ifndef FATHOM_ARCHIVE_H
#define FATHOM_ARCHIVE_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_archive_options {
    const char
        *recording;    /* a file or a directory of files; fathom_archive_fill_cache() also takes an archive */
    const char *symfs; /* root directory of programs, libraries and debug files; NULL: "/" */
    bool no_debug;     /* leave out separate debug files */
    /* The rest applies to fathom_archive_write() only. */
    const char *output; /* NULL: the recording's name with ".tar.zst"; "-": standard output */
    const char *map;    /* a path map file for reports of the archive; NULL: none */
    bool no_cache;      /* leave out what other recordings of the same programs learned */
    bool sources;       /* include the sources of sampled instructions and of interpreted functions */
    FATHOM_RESERVED;
};

/* Both functions warn about files that cannot be found. On success, *other_build says whether files of another build were found; these are
 * left out. Errors: file errors; -EINVAL: the recording is already an archive, or the output would overwrite an input; -ENOMSG, -EBADMSG,
 * -ENOTSUP: not a recording or map, damaged, unsupported format. */
FATHOM_API int fathom_archive_write(const struct fathom_archive_options *options,
                                    const struct fathom_listener *listener, bool *other_build,
                                    struct fathom_error *error);
/* Puts programs, libraries and debug files into $PERF_BUILDID_DIR or ~/.debug. An archive is unpacked as by fathom_report_open().
 * -ENOENT: the cache directory does not exist. */
FATHOM_API_MT_UNSAFE int fathom_archive_fill_cache(const struct fathom_archive_options *options,
                                                   const struct fathom_listener *listener, bool *other_build,
                                                   struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
