/*
 * directory.h - private to perfdata/: a recording that is a directory (tools/perf/util/data.c): the file "data", like other
 * recordings, and from perf record --threads "data.0", "data.1", ..., with records only. The copies of the kernel's code that
 * --kcore adds are not read.
 */
#ifndef FATHOM_PERFDATA_DIRECTORY_H
#define FATHOM_PERFDATA_DIRECTORY_H

#include <stdbool.h>

#include "perfdata/input.h"

bool directory_is(const char *path);
/* Opens all of them. The caller closes *data and *parts, and frees *parts, even on failure. -ENOMSG: there is no "data", or one
 * of them is not a regular file. */
int directory_open(const char *path, struct input *data, struct input **parts, size_t *count,
                   struct fathom_error *err);

#endif
