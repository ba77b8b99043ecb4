/*
 * outfile.h - a command's output file: written under a temporary or no name and renamed when complete, so
 * that a failure leaves the existing file, and a killed process leaves nothing else.
 *
 * A new file has mode 0600, since recordings and maps contain stack memory; one that replaces a file of the
 * same user keeps that file's mode and group. Pipes, character devices and standard output ("-") are streams:
 * they are written directly. Anything else but a regular file is refused. A symbolic link is followed only if
 * it belongs to the user: in a directory like /tmp another user's link may lead anywhere. Nor is a directory on the way to the
 * file another user's link in such a directory (links.h).
 */
#ifndef FATHOM_BASE_OUTFILE_H
#define FATHOM_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct outfile;

/* Checks that `path` can be written and opens a stream, but creates no file yet. Blocks on a named pipe until
 * it has a reader. Errors: -ENOENT the directory does not exist; -EACCES, -EROFS it, or the file, is not
 * writable; -EPERM another user's link, or another user's file in a directory like /tmp; -EISDIR a directory;
 * -ENXIO not a regular file, pipe or character device, or an invalid name; -ENOTTY a terminal, which must not
 * get binary data. */
int outfile_open(const char *path, struct outfile **out, struct fathom_error *err);
/* What "-" opens: a stream to a copy of this descriptor, named standard output in messages. */
int outfile_stream(int fd, struct outfile **out, struct fathom_error *err);
bool outfile_is_stream(const struct outfile *file);
const char *outfile_name(const char *path);           /* its name in messages: "-" is standard output */
const char *outfile_path(const struct outfile *file); /* outfile_name() of the given path */
/* The file itself, with links resolved when it was opened; NULL: a stream. */
const char *outfile_target(const struct outfile *file);
/* Its absolute path, whether it exists already or not; malloc'd. NULL: a stream, or there is no memory. */
char *outfile_absolute(const struct outfile *file);
/* Creates the file, without a name if the file system supports that, else with a temporary name in the same
 * directory. The descriptor is open for writing until outfile_close(). */
int outfile_begin(struct outfile *file, int *fd, struct fathom_error *err);
/* Moves the file to its place; it can still be written. keep_old: keep an existing file, unless empty, as
 * PATH.old. Does nothing for a stream. */
int outfile_publish(struct outfile *file, bool keep_old, struct fathom_error *err);
/* Closes and frees; NULL is allowed. An unpublished file is removed. */
void outfile_close(struct outfile *file);

/* All of it at once: begin, write, sync, publish. */
int outfile_put(struct outfile *file, const void *data, size_t size, struct fathom_error *err);

#endif
