/* plain_path.h - paths that came from a file and are appended to a directory's. */
#ifndef FATHOM_BASE_PLAIN_PATH_H
#define FATHOM_BASE_PLAIN_PATH_H

#include <stdbool.h>

#define PLAIN_PATH_MOST 3072 /* bytes */

/* Whether it is relative, not empty, and only goes down: no component is empty, ".", ".." or longer than a file's name can be. */
bool plain_path(const char *path);

/* An absolute path made relative to the root, without empty parts, "." and ".." (which takes the part before it away, and leads no
 * higher than the root): "/a/./b//../c" is "a/c". So debug information names sources of a build outside its directory. It may be
 * empty, or longer than plain_path() allows. malloc'd; NULL: out of memory. */
char *plain_path_below_root(const char *path);

#endif
