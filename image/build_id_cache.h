/*
 * build_id_cache.h - files by build-id, in the layout of stock perf's cache (tools/perf/util/build-id.c):
 *
 *     DIRECTORY/.build-id/xx/yyyy...       a link to DIRECTORY/PATH/xxyyyy... (older perf: to a file, the program itself)
 *     DIRECTORY/PATH/xxyyyy.../elf         the program or library; debug: its debug file; vdso; kallsyms
 *
 * An archive that was opened (image_options.archived) has the same, without links.
 */
#ifndef FATHOM_IMAGE_BUILD_ID_CACHE_H
#define FATHOM_IMAGE_BUILD_ID_CACHE_H

#include <stddef.h>

#include "base/error.h"
#include "image/elf/build_id.h"

/* The user's cache directory, chosen as perf does, whether it exists or not: $PERF_BUILDID_DIR, `dir` of
 * [buildid] in ~/.perfconfig or /etc/perfconfig, ~/.debug. malloc'd; NULL: none, or out of memory. */
char *build_id_cache_directory(void);

/* Where the file of a kind ("elf", "debug", "vdso", "kallsyms") is, relative to the directory: ".build-id/xx/yyyy/elf". malloc'd; NULL: out of memory, or the
 * build-id is shorter than 2 bytes. */
char *build_id_cache_name(const struct build_id *id, const char *kind);
/* The file of a build in the directory, if it exists and belongs to this user or root: HOME may be that of the
 * user who called sudo. The caller must check its build-id. malloc'd; NULL: none, or out of memory. */
char *build_id_cache_find(const char *directory, const struct build_id *id, const char *kind);

struct build_id_cache_file {
    const char *path; /* the original path, as recorded: "/usr/bin/lua5.4", "[vdso]" */
    const struct build_id *id;
    const char *kind;
    const char *source; /* the file to copy; if NULL, `data` is stored */
    const void *data;   /* used if source is NULL */
    size_t size;
};
/* Adds a file to the cache. Returns 1 if it was added, 0 if the cache already has it. The file appears only when
 * it is complete. Errors: -EPERM: another user owns the directory or a link to it; -EINVAL: the path would lead
 * outside the directory, or the build-id is too short; others. */
int build_id_cache_add(const char *directory, const struct build_id_cache_file *file,
                       struct fathom_error *err);

#endif
