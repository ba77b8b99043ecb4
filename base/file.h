/*
 * file.h - whole files: read as bytes in memory, and whole writes; files that are made: outfile.h.
 */
#ifndef FATHOM_BASE_FILE_H
#define FATHOM_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A file as bytes in memory, read piece by piece: a copy, so that nobody who cuts or writes the file
 * meanwhile changes what was read (a mapping of the file would raise SIGBUS). What was not asked for is 0. */
struct file_view {
    const uint8_t *data; /* NULL when the file is empty; as aligned as a page */
    size_t size;         /* bytes, as the file was when it was opened */
    int fd;              /* -1: nothing more is read */
    uint8_t *filled;     /* FILE_VIEW_PIECE bytes each: whether they are there */
    char *path;          /* for messages */
};
#define FILE_VIEW_PIECE ((size_t)64 << 10)

/* Opens a regular file; nothing is read yet. */
int file_view_open(const char *path, struct file_view *view, struct fathom_error *err);
/* Reads these bytes unless they are there; they must lie inside the view. -EBADMSG: the file was cut. */
int file_view_need(struct file_view *view, uint64_t offset, uint64_t size, struct fathom_error *err);
/* Nothing more will be asked for: closes the file, keeps the bytes. */
void file_view_settle(struct file_view *view);
/* Opens a regular file and reads all of it. */
int file_view_read(const char *path, struct file_view *view, struct fathom_error *err);
void file_view_close(struct file_view *view); /* one that is zeroed is allowed */

/* Writes all of it or fails; interrupted and short writes go on. `path` is for the message only. */
int file_write_all(int fd, const void *data, size_t size, const char *path, struct fathom_error *err);

#endif
