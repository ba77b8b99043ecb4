/* symfs.h - a root directory for the paths of programs, libraries and debug files. */
#ifndef FATHOM_API_SYMFS_H
#define FATHOM_API_SYMFS_H

#include "base/error.h"

/* NULL: none. A root that is not there would make every image one that cannot be read. */
int symfs_check(const char *directory, struct fathom_error *err);

#endif
