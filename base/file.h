/*
 * file.h - whole files: mapped for reading, replaced at once on writing.
 */
#ifndef FATHOM_BASE_FILE_H
#define FATHOM_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct file_view {
    const uint8_t *data; /* NULL when the file is empty */
    size_t size;         /* bytes */
};

/* Maps a regular file read-only (MAP_PRIVATE). populate: fault all pages in now, for a file that is read
 * whole. A file that another process cuts while it is mapped raises SIGBUS, as with any mapping. */
int file_view_open(const char *path, bool populate, struct file_view *view, struct fathom_error *err);
void file_view_close(struct file_view *view);

/* Writes all of it or fails; interrupted and short writes go on. `path` is for the message only. */
int file_write_all(int fd, const void *data, size_t size, const char *path, struct fathom_error *err);

/* Replaces `path` by the given bytes: a temporary file beside it is written, synced and renamed, so a reader
 * (or a full disk) never sees a half-written file. */
int file_replace(const char *path, const void *data, size_t size, struct fathom_error *err);

#endif
