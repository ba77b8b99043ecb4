/* plain_path.h - whether a path that came from a file may be appended to a directory's. */
#ifndef FATHOM_BASE_PLAIN_PATH_H
#define FATHOM_BASE_PLAIN_PATH_H

#include <stdbool.h>

#define PLAIN_PATH_MOST 3072 /* bytes */

/* Whether it is relative, not empty, and only goes down: no component is empty, ".", ".." or longer than a file's name can be. */
bool plain_path(const char *path);

#endif
