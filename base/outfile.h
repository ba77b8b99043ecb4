/*
 * outfile.h - a file that a command writes: made beside its place and renamed when it is good, so that a
 * failure leaves what was there; and of a process that is killed, nothing else.
 *
 * A new file has mode 0600, since recordings and maps hold stack memory; one that replaces a file of the same
 * user keeps that file's mode and group. Pipes, character devices and standard output ("-") are streams: they
 * are written directly. Anything else that is no regular file is refused. A symbolic link is followed only
 * where it belongs to the user: in a directory like /tmp another user's link may lead anywhere.
 */
#ifndef FATHOM_BASE_OUTFILE_H
#define FATHOM_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct outfile;

/* Finds out whether `path` can be written and opens a stream; makes no file yet. Blocks on a named pipe until
 * it has a reader. Errors: -ENOENT the directory does not exist; -EACCES, -EROFS it, or the file, is not
 * writable; -EPERM another user's link, or another user's file in a directory like /tmp; -EISDIR a directory;
 * -ENXIO no regular file, pipe or character device, or a name that no file can have; -ENOTTY a terminal, for which binary data are nothing. */
int outfile_open(const char *path, struct outfile **out, struct fathom_error *err);
bool outfile_is_stream(const struct outfile *file);
const char *outfile_name(const char *path);           /* what messages call it: "-" is standard output */
const char *outfile_path(const struct outfile *file); /* outfile_name() of what was given */
/* The file itself, with links followed, as it was when it was opened; NULL: a stream. */
const char *outfile_target(const struct outfile *file);
/* Makes the file, without a name where the file system can, else with a temporary one beside the place. The descriptor is open for writing until outfile_close(). */
int outfile_begin(struct outfile *file, int *fd, struct fathom_error *err);
/* Puts the file in its place; it can be written further. keep_old: what stands there, unless empty, is kept
 * as PATH.old. Nothing is done for a stream. */
int outfile_publish(struct outfile *file, bool keep_old, struct fathom_error *err);
/* Closes and frees; NULL is allowed. What was not published is removed. */
void outfile_close(struct outfile *file);

/* All of it at once: begin, write, sync, publish. */
int outfile_put(struct outfile *file, const void *data, size_t size, struct fathom_error *err);

#endif
