/*
 * unpack.h - reads an archive (pack.h) into a directory. libarchive reads it: a tar file of any kind, compressed or not.
 *
 * Archives are hostile. Only regular files that the manifest lists are made, by plain paths below the directory, which is the
 * caller's own and empty, so that no link leads elsewhere; sizes and sums must be those of the manifest, all files must be
 * there, and they must not be larger than UNPACK_MOST(size of the archive), or than what the file system has free. Of other
 * members there may only be as many directories as these files need.
 */
#ifndef FATHOM_ARCHIVE_UNPACK_H
#define FATHOM_ARCHIVE_UNPACK_H

#include "archive/manifest.h"

/* Real ones are up to 10 times larger than their archives; zeros, 10,000 times. */
#define UNPACK_MOST(archived) ((UINT64_C(1) << 30) + 1000 * (uint64_t)(archived))

/* Whether a regular file begins like an archive, not like a recording. */
bool unpack_is_archive(const char *path);
/* Errors: -EBADMSG: damaged or cut; -ENOMSG: it is another tar file; -ENOTSUP: of a later version; -ENOSPC; others. Files
 * that were made stay. */
int unpack(const char *path, const char *directory, struct manifest *out, struct fathom_error *err);

#endif
