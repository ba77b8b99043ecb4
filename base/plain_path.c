/* plain_path.c - see plain_path.h. */
#include "base/plain_path.h"

#include <limits.h>
#include <string.h>

bool plain_path(const char *path)
{
    if (strlen(path) > PLAIN_PATH_MOST)
        return false;
    for (const char *at = path;; at++) {
        size_t length = strcspn(at, "/");
        if (length == 0 || length > NAME_MAX || (length <= 2 && strncmp(at, "..", length) == 0))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}
