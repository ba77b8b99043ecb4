/*
 * unpack.h - unpacks an archive (pack.h) into a directory. libarchive reads it: any kind of tar file, compressed
 * or not.
 *
 * Archives are hostile. Only regular files that the manifest lists are made, with plain paths below the
 * directory, which is the caller's own and empty, so that no link leads elsewhere; sizes and checksums must be
 * those of the manifest; all files must be there, and must not be larger than UNPACK_MOST(size of the archive),
 * or than the free space of the file system. Other members may only be directories, and no more than these files
 * need.
 */
#ifndef FATHOM_ARCHIVE_UNPACK_H
#define FATHOM_ARCHIVE_UNPACK_H

#include "archive/manifest.h"

/* Real ones are up to 10 times larger than their archives; zeros, 10,000 times. */
#define UNPACK_MOST(archived) ((UINT64_C(1) << 30) + 1000 * (uint64_t)(archived))

/* Whether a regular file begins like an archive, rather than a recording. */
bool unpack_is_archive(const char *path);
/* Errors: -EBADMSG: damaged or truncated; -ENOMSG: another tar file; -ENOTSUP: of a later version; -ENOSPC;
 * others. Files made so far stay. */
int unpack(const char *path, const char *directory, struct manifest *out, struct fathom_error *err);

#endif
