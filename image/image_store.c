/* image_store.c - see image_store.h. */
#include "image/image_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/cache.h"
#include "image/elf/elf_file.h"

#define COPY_BYTES (256u << 10)
#define DIRECTORY  "images"

static char *path_in(const char *directory, const struct build_id *id)
{
    char hex[2 * BUILD_ID_MAX + 1], *path;
    build_id_format(id, hex);
    return id->size && asprintf(&path, "%s/%s", directory, hex) >= 0 ? path : NULL;
}

char *image_store_path(const struct build_id *id)
{
    char *directory = cache_directory(DIRECTORY, false), *path = directory ? path_in(directory, id) : NULL;
    int fd = path ? cache_open(path) : -1;
    free(directory);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    free(path);
    return NULL;
}

static int copy_file(int from, int to, const char *path, struct fathom_error *err)
{
    uint8_t *buffer = malloc(COPY_BYTES);
    if (!buffer)
        return error_memory(err);
    int rc = 0;
    size_t n = COPY_BYTES;
    for (uint64_t at = 0; rc == 0 && n == COPY_BYTES; at += n) {
        n = file_read_at(from, buffer, COPY_BYTES, at);
        if (n < COPY_BYTES && errno)
            rc = error_system(err, errno, "cannot read an image to keep");
        else if (at + n > IMAGE_STORE_LARGEST)
            rc = error_set(err, EFBIG, "an image grew while it was copied");
        else
            rc = file_write_all(to, buffer, n, path, err);
    }
    free(buffer);
    return rc;
}

static int store_copy(int fd, uint64_t size, const char *directory, const char *path,
                      struct fathom_error *err)
{
    struct cache_file file;
    int rc = cache_begin(directory, size, IMAGE_STORE_BYTES, &file, err);
    return rc < 0 ? rc : cache_end(&file, path, copy_file(fd, file.fd, path, err), err);
}

/* Whether the file open at fd has symbols or debug information that the copy lacks. */
static bool is_better(int fd, const char *copy)
{
    struct elf_file stored;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (elf_file_open(&stored, copy, ELF_HEADERS, NULL) < 0)
        return false;
    bool better = elf_file_names_more(path, &stored);
    elf_file_close(&stored);
    return better;
}

int image_store_keep(int fd, const struct build_id *id, struct fathom_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_system(err, errno, "cannot stat an image to keep");
    if ((uint64_t)st.st_size > IMAGE_STORE_LARGEST)
        return error_set(err, EFBIG, "it is larger than %u MiB", (unsigned)(IMAGE_STORE_LARGEST >> 20));
    char *directory = cache_directory(DIRECTORY, true), *path = directory ? path_in(directory, id) : NULL;
    int rc = 0;
    if (!path) {
        rc = error_set(err, ENOENT, "the user has no own directory for it: set XDG_CACHE_HOME");
    } else if (!cache_use(path) || is_better(fd, path)) { /* else it exists; cache_use() marked it as used */
        rc = store_copy(fd, (uint64_t)st.st_size, directory, path, err);
    }
    free(directory);
    free(path);
    return rc;
}
