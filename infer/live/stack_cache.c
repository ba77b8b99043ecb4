/* stack_cache.c - see stack_cache.h. */
#include "infer/live/stack_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/checksum.h"
#include "base/file.h"

#define SUFFIX ".stacks"

/* malloc'ed; NULL: the user has no cache directory, or out of memory. */
static char *path_of(const char *program, const struct build_id *id, bool make, char **directory)
{
    char hex[2 * BUILD_ID_MAX + 1], *path = NULL;
    const unsigned long long sum = checksum_of(program, strlen(program));
    build_id_format(id, hex);
    *directory = id->size ? cache_directory("stacks", make) : NULL;
    if (*directory && asprintf(&path, "%s/%s-%016llx" SUFFIX, *directory, hex, sum) < 0)
        path = NULL;
    return path;
}

int stack_cache_get(const char *program, const struct build_id *id, struct kept_stacks **out)
{
    char *directory, *path = path_of(program, id, false, &directory);
    char *data = NULL;
    size_t size;
    const int fd = path ? cache_open(path) : -1;
    int rc = fd < 0 ? -ENOENT : file_read_text(fd, STACK_CACHE_LARGEST, &data, &size);
    if (rc == 0)
        rc = kept_stacks_read(data, size, numbered_file_stamp, out);
    if (rc == 0)
        cache_use(path);
    if (fd >= 0)
        close(fd);
    free(data);
    free(path);
    free(directory);
    return rc == 0 ? 1 : rc == -ENOMEM ? rc : 0;
}

int stack_cache_put(const char *program, const struct build_id *id, const struct kept_stacks *kept,
                    size_t *stacks, struct fathom_error *err)
{
    struct cache_file file;
    void *data = NULL;
    size_t size;
    char *directory, *path = path_of(program, id, true, &directory);
    *stacks = 0;
    if (!path) {
        free(directory);
        return 0;
    }
    int rc = kept_stacks_write(kept, numbered_file_stamp, &data, &size, stacks) == 0 ? 0 : error_memory(err);
    const bool fits = rc == 0 && size <= STACK_CACHE_LARGEST;
    if (fits)
        rc = cache_begin(directory, size, STACK_CACHE_BYTES, &file, err);
    if (fits && rc == 0)
        rc = cache_end(&file, path, file_write_all(file.fd, data, size, path, err), err);
    free(data);
    free(path);
    free(directory);
    return rc < 0 ? rc : fits;
}

/* Whether a file in the directory has a name of ours; others are left alone. */
static bool is_kept(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(SUFFIX);
    return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

int stack_cache_clear(size_t *count, struct fathom_error *err)
{
    struct cache_entry *files = NULL;
    size_t file_count = 0;
    char *directory = cache_directory("stacks", false);
    int rc = directory ? cache_list(directory, &files, &file_count, err) : 0;
    *count = 0;
    for (size_t i = 0; i < file_count && rc == 0; i++) {
        char *path;
        if (!is_kept(files[i].name))
            continue;
        if (asprintf(&path, "%s/%s", directory, files[i].name) < 0) {
            rc = error_memory(err);
            break;
        }
        if (unlink(path) < 0 && errno != ENOENT)
            rc = error_system(err, errno, "cannot remove %s", path);
        free(path);
        ++*count;
    }
    free(files);
    free(directory);
    return rc;
}
