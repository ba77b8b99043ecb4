/*
 * dense.h - reads files of a trace: as far as they have bytes on the disk. Nobody left a hole in one of these, and a forged one may have more
 * of that than there is memory.
 */
#ifndef FATHOM_STREAMS_TRACE_DENSE_H
#define FATHOM_STREAMS_TRACE_DENSE_H

#include "base/file.h"

/* Opens it and reads the first `header` bytes, or as many as it has. */
int dense_open(const char *path, size_t header, struct file_view *view, struct fathom_error *err);
/* Reads it until `used`, until its end, or until its first hole, and closes it, but not the view: *size is how far. After an error the caller
 * closes the view, too. */
int dense_read(struct file_view *view, uint64_t used, size_t *size, struct fathom_error *err);

#endif
