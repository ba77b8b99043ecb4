/* directory.c - see directory.h. */
#include "perfdata/directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"

bool directory_is(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_parts(const char *directory, struct input **parts, size_t *count, struct fathom_error *err)
{
    int rc = 0;
    size_t capacity = 0;
    bool there = true;
    while (rc == 0 && there) {
        struct stat st;
        char *path = NULL;
        if (asprintf(&path, "%s/data.%zu", directory, *count) < 0)
            return error_memory(err);
        there = stat(path, &st) == 0;
        if (there && !S_ISREG(st.st_mode))
            rc = error_set(err, ENOMSG, "%s is not a regular file", path);
        else if (there && !vec_reserve(*parts, *count, capacity, 1))
            rc = error_memory(err);
        else if (there)
            rc = input_open(path, &(*parts)[*count], err);
        *count += there && rc == 0;
        free(path);
    }
    return rc;
}

int directory_open(const char *path, struct input *data, struct input **parts, size_t *count,
                   struct fathom_error *err)
{
    struct stat st;
    char *name = NULL;
    if (asprintf(&name, "%s/data", path) < 0)
        return error_memory(err);
    int rc = stat(name, &st) == 0 && S_ISREG(st.st_mode)
                 ? input_open(name, data, err)
                 : error_set(err, ENOMSG,
                             "%s is a directory, but not one that perf record writes: it has no file 'data'",
                             path);
    free(name);
    return rc < 0 ? rc : open_parts(path, parts, count, err);
}
