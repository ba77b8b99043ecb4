/*
 * directory.h - private to perfdata/: a recording as a directory (tools/perf/util/data.c): the file "data", as other
 * recordings are, and with perf record --threads "data.0", "data.1", ..., which have records alone. The copies of the
 * kernel's code that --kcore puts beside them are not read.
 */
#ifndef FATHOM_PERFDATA_DIRECTORY_H
#define FATHOM_PERFDATA_DIRECTORY_H

#include <stdbool.h>

#include "perfdata/input.h"

bool directory_is(const char *path);
/* Opens all of them. *parts (malloc'ed): the caller closes and frees even on failure, as with *data. -ENOMSG: there is
 * no "data", or one of them is not a regular file. */
int directory_open(const char *path, struct input *data, struct input **parts, size_t *count,
                   struct fathom_error *err);

#endif
