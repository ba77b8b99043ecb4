/*
 * dense.h - reads files of a trace up to their first hole. Regular ones have no holes, and a forged one may have
 * a hole larger than memory.
 */
#ifndef FATHOM_STREAMS_TRACE_DENSE_H
#define FATHOM_STREAMS_TRACE_DENSE_H

#include "base/file.h"

/* Opens it and reads the first `header` bytes, or as many as there are. */
int dense_open(const char *path, size_t header, struct file_view *view, struct fathom_error *err);
/* Reads it up to `used`, its end, or its first hole, and closes the file, but not the view; *size: how far. After
 * an error the caller closes the view, too. */
int dense_read(struct file_view *view, uint64_t used, size_t *size, struct fathom_error *err);

#endif
