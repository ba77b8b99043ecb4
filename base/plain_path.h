/* plain_path.h - checks paths that come from a file before they are appended to a directory's. */
#ifndef FATHOM_BASE_PLAIN_PATH_H
#define FATHOM_BASE_PLAIN_PATH_H

#include <stdbool.h>

#define PLAIN_PATH_MOST 3072 /* bytes */

/* Whether a path is relative, not empty, and only descends: no component is empty, ".", ".." or longer than a
 * file name can be. */
bool plain_path(const char *path);

/* Makes an absolute path relative to the root, without empty parts, "." and ".." (which removes the part
 * before it, and does not go above the root): "/a/./b//../c" becomes "a/c". Debug information has such paths
 * for sources outside of the build directory. The result may be empty, or longer than plain_path() allows.
 * malloc'd; NULL: out of memory. */
char *plain_path_below_root(const char *path);

#endif
