/* image_find.c - see image_find.h. */
#include "image/image_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/debuginfod.h"
#include "image/image_store.h"
#include "image/mapped_name.h"

/* Whether the file is the expected build. */
static int check(const char *file, const struct build_id *expected, struct fathom_error *err)
{
    struct build_id id;
    int rc = build_id_read(file, &id, err);
    if (rc == 0 && expected->size && !build_id_equal(expected, &id))
        return error_set(err, ESTALE, IMAGE_OTHER_BUILD, file);
    return rc;
}

static int by_path(const char *path, const struct build_id *expected, const char *symfs, char **file,
                   struct fathom_error *err)
{
    if (mapped_kind(path) != MAPPED_FILE || mapped_is_deleted(path))
        return error_set(err, ENOENT, "there is no file behind the mapping \"%s\"", path);
    char *there;
    if (asprintf(&there, "%s%s", symfs ? symfs : "", path) < 0)
        return error_memory(err);
    int rc = check(there, expected, err);
    if (rc < 0)
        free(there);
    else
        *file = there;
    return rc;
}

/* Tries a possible copy and takes ownership of the candidate (malloc'd, NULL: none). Returns whether it is
 * one; missing and damaged files are skipped. */
static bool try_copy(char *candidate, const struct build_id *expected, char **file)
{
    if (candidate && check(candidate, expected, NULL) == 0) {
        *file = candidate;
        return true;
    }
    free(candidate);
    return false;
}

/* Looks in the build-id cache of stock perf (tools/perf/util/build-id.c), which has links to the programs
 * themselves. Another user's files are not used: HOME may be that of the user who called sudo. */
static char *perf_copy(const char *name, const struct build_id *id)
{
    char hex[2 * BUILD_ID_MAX + 1], *path;
    struct stat st;
    const char *file = strcmp(name, VDSO_NAME) == 0 ? "vdso" : "elf", *home = secure_getenv("HOME");
    build_id_format(id, hex);
    if (!home || home[0] != '/' || id->size < 2 ||
        asprintf(&path, "%s/.debug/.build-id/%.2s/%s/%s", home, hex, hex + 2, file) < 0)
        return NULL;
    if (stat(path, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0))
        return path;
    free(path);
    return NULL;
}

int image_find(const char *path, const struct build_id *expected, const struct image_options *options,
               char **file, struct fathom_error *err)
{
    struct fathom_error why = {0};
    int rc = by_path(path, expected, options ? options->symfs : NULL, file, &why);
    if (rc == 0 || rc == -ENOMEM)
        return rc == 0 ? 0 : error_memory(err);
    if (expected->size && (try_copy(image_store_path(expected), expected, file) ||
                           try_copy(perf_copy(path, expected), expected, file)))
        return 0;
    /* (names without an absolute path are the kernel's) */
    if (options && path[0] == '/' &&
        try_copy(debuginfod_find(options->debuginfod, DEBUGINFOD_IMAGE, expected), expected, file))
        return 0;
    if (err)
        *err = why;
    return rc;
}
