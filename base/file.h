/*
 * file.h - reads files into memory, and writes completely; for creating files see outfile.h.
 */
#ifndef FATHOM_BASE_FILE_H
#define FATHOM_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"

/* A file as bytes in memory, read piece by piece: a copy, so that truncating or writing the file meanwhile
 * does not change what was read (a mapping of the file would raise SIGBUS). Pieces not yet read are 0. */
struct file_view {
    const uint8_t *data;     /* NULL if the file is empty; page-aligned */
    size_t size;             /* bytes, when the file was opened */
    int fd;                  /* -1: no more reads */
    uint8_t *filled;         /* per FILE_VIEW_PIECE bytes: whether they were read */
    char *path;              /* for messages */
    struct timespec written; /* the file's modification time when it was opened */
    bool lost;               /* no more is read: the file was changed, or could not be read */
};
#define FILE_VIEW_PIECE ((size_t)4 << 10)

/* Opens a regular file for reading; not a device, where opening may have effects, nor a pipe, which would
 * block. Returns a file descriptor; -ENOMSG: not a regular file; others. */
int file_open_regular(const char *path, struct fathom_error *err);
/* Opens a regular file; nothing is read yet. */
int file_view_open(const char *path, struct file_view *view, struct fathom_error *err);
/* Reads these bytes unless already read; they must lie inside the view. -EBADMSG: the file was truncated. */
int file_view_need(struct file_view *view, uint64_t offset, uint64_t size, struct fathom_error *err);
/* The same, but fails if the file was written or truncated since it was opened, according to its time of
 * change: -ESTALE, then and always after that, as after each other failure. */
int file_view_need_same(struct file_view *view, uint64_t offset, uint64_t size, struct fathom_error *err);
/* The same bytes into `out`, without keeping them. */
int file_view_copy_same(struct file_view *view, uint64_t offset, void *out, size_t size,
                        struct fathom_error *err);
/* Closes the file and keeps the bytes; call when nothing more will be read. */
void file_view_settle(struct file_view *view);
/* Opens a regular file and reads all of it. */
int file_view_read(const char *path, struct file_view *view, struct fathom_error *err);
void file_view_close(struct file_view *view); /* a zeroed one is allowed */

/* Returns how many bytes it read; fewer than `size`: the file's end, or errno is not 0. */
size_t file_read_at(int fd, void *to, size_t size, uint64_t offset);
/* Reads to the end of a file whose size is not known in advance, like those in /proc. NUL-terminated; *text
 * is malloc'ed. -EFBIG: it has more than `most` bytes; -ENOMEM; others as read(2). */
int file_read_text(int fd, size_t most, char **text, size_t *size);

/* Writes all of it or fails; continues after interrupted and short writes. `path` is only for the message. */
int file_write_all(int fd, const void *data, size_t size, const char *path, struct fathom_error *err);

#endif
