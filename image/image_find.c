/* image_find.c - see image_find.h. */
#include "image/image_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_path.h"
#include "image/build_id_cache.h"
#include "image/debuginfod.h"
#include "image/elf/elf_file.h"
#include "image/image_store.h"
#include "image/mapped_name.h"

/* Checks that the file is the expected build and complete. */
static int check_file(const char *file, const struct build_id *expected, struct fathom_error *err)
{
    struct elf_file elf;
    int rc = elf_file_open(&elf, file, ELF_HEADERS, err);
    if (rc < 0)
        return rc;
    if (expected->size && !build_id_equal(expected, &elf.build_id))
        rc = error_set(err, ESTALE, IMAGE_OTHER_BUILD, file);
    else if (elf.cut)
        rc = error_set(err, EBADMSG, ELF_CUT, file);
    elf_file_close(&elf);
    return rc;
}

/* The path below a directory that stands in for the root, but never outside it: recordings are hostile. */
static char *path_below(const char *root, const char *path)
{
    char *plain = plain_path_below_root(path), *there = NULL;
    if (plain && asprintf(&there, "%s/%s", root, plain) < 0)
        there = NULL;
    free(plain);
    return there;
}

int image_find_at(const char *path, const struct build_id *expected, const char *symfs, char **file,
                  struct fathom_error *err)
{
    if (mapped_kind(path) != MAPPED_FILE || mapped_is_gone(path))
        return error_set(err, ENOENT, "there is no file behind the mapping \"%s\"%s", path,
                         mapped_is_not_found(path)
                             ? ": its process ended before it could be opened, or it has no build-id"
                             : "");
    char *there = symfs ? path_below(symfs, path) : strdup(path);
    if (!there)
        return error_memory(err);
    int rc = check_file(there, expected, err);
    if (rc < 0)
        free(there);
    else
        *file = there;
    return rc;
}

/* Checks whether a candidate (malloc'd, or NULL) is a copy of the build; takes ownership of it. Missing and
 * damaged files are skipped. */
static bool try_copy(char *candidate, const struct build_id *expected, char **file)
{
    if (candidate && check_file(candidate, expected, NULL) == 0) {
        *file = candidate;
        return true;
    }
    free(candidate);
    return false;
}

/* A file of the opened archive. */
static char *archived_copy(const char *directory, const char *name, const struct build_id *id)
{
    const bool vdso = strcmp(name, VDSO_NAME) == 0;
    char *root, *path;
    if (id->size)
        return build_id_cache_find(directory, id, vdso ? "vdso" : "elf");
    if (asprintf(&root, "%s%s", directory, vdso ? "" : "/root") < 0)
        return NULL;
    path = path_below(root, vdso ? "vdso" : name);
    free(root);
    return path;
}

static char *perf_copy(const char *name, const struct build_id *id)
{
    char *directory = build_id_cache_directory();
    char *path = build_id_cache_find(directory, id, strcmp(name, VDSO_NAME) == 0 ? "vdso" : "elf");
    free(directory);
    return path;
}

int image_find(const char *path, const struct build_id *expected, const struct image_options *options,
               char **file, struct fathom_error *err)
{
    struct fathom_error why = {0};
    const char *archived = options ? options->archived : NULL;
    if (archived && try_copy(archived_copy(archived, path, expected), expected, file))
        return 0;
    int rc = image_find_at(path, expected, options ? options->symfs : NULL, file, &why);
    if (rc == 0 || rc == -ENOMEM)
        return rc == 0 ? 0 : error_memory(err);
    if (expected->size && (try_copy(image_store_path(expected), expected, file) ||
                           try_copy(perf_copy(path, expected), expected, file)))
        return 0;
    /* (names without an absolute path are the kernel's) */
    if (options && path[0] == '/' &&
        try_copy(debuginfod_find(options->debuginfod, DEBUGINFOD_IMAGE, expected), expected, file))
        return 0;
    if (archived && rc == -ENOENT)
        return error_set(err, ENOENT, "the archive does not have %s", path);
    if (err)
        *err = why;
    return rc;
}
