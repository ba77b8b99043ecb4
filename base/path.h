/* path.h - parts of a file's path. */
#ifndef FATHOM_BASE_PATH_H
#define FATHOM_BASE_PATH_H

#include <string.h>

/* The part after the last '/', within `path`; all of it if there is none. */
static inline const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
