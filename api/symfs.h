/* symfs.h - checks a root directory for programs, libraries and debug files. */
#ifndef FATHOM_API_SYMFS_H
#define FATHOM_API_SYMFS_H

#include "base/error.h"

/* NULL: none, which is valid. With a missing root no image could be read. */
int symfs_check(const char *directory, struct fathom_error *err);

#endif
