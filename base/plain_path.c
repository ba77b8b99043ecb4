/* plain_path.c - see plain_path.h. */
#include "base/plain_path.h"

#include <limits.h>
#include <stdlib.h>
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

char *plain_path_below_root(const char *path)
{
    char *plain = malloc(strlen(path) + 1), *end = plain;
    if (!plain)
        return NULL;
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");
        if (length == 2 && memcmp(at, "..", 2) == 0) {
            while (end > plain && *--end != '/')
                ;
        } else if (length > 1 || (length == 1 && *at != '.')) {
            if (end > plain)
                *end++ = '/';
            memcpy(end, at, length);
            end += length;
        }
        at += length + (at[length] == '/');
    }
    *end = 0;
    return plain;
}
