/*
 * manifest.h - the list of an archive's files, which is its first member, "fathom-archive": a text with an item
 * per line, whose fields are separated by single spaces. In names, bytes outside '!' to '~', and '%', are written
 * "%XX".
 *
 *      fathom-archive 1                   version; the first line
 *      # ...                              ignored
 *      map NAME                           the user's name for the map, which is the member "map"
 *      file NAME SIZE SUM FROM            a member, its bytes, their checksum (checksum.h, 16 digits), what it was made from
 *
 * Files that are not listed are not unpacked.
 */
#ifndef FATHOM_ARCHIVE_MANIFEST_H
#define FATHOM_ARCHIVE_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"

#define MANIFEST_NAME      "fathom-archive"
#define MANIFEST_RECORDING "perf.data" /* the recording: a file, or a directory of them */
#define MANIFEST_MAP       "map"       /* the map given by the user */
#define MANIFEST_KEPT      "kept" /* directory of cached maps of other recordings (pathmap/map/map_cache.h) */
#define MANIFEST_KERNEL                                                                                      \
    "kernel" /* directory of the recorded kernel's kallsyms, modules, notes (image/kernel/running.h) */
#define MANIFEST_ROOT "root" /* directory of files by path: those without a build-id, and sources */
#define MANIFEST_MOST ((size_t)64 << 20) /* bytes */
/* Limit of files: each takes some 0.1 ms to create, even if it is empty. */
#define MANIFEST_FILES_MOST 30000

struct manifest_file {
    char *name; /* a plain path (plain_path.h) */
    uint64_t size, sum;
    char *from;
};

struct manifest { /* zeroed: empty */
    char *map;    /* NULL: no map */
    struct manifest_file *files;
    size_t count, capacity;
    struct table *by_name; /* checksum of the name -> index + 1 */
};

/* Errors: -ENOMSG: not a manifest; -ENOTSUP: of a later version; -EBADMSG: damaged; -ENOMEM. */
int manifest_parse(const char *text, size_t size, struct manifest *out, struct fathom_error *err);
/* malloc'd; NULL: out of memory. */
char *manifest_format(const struct manifest *manifest, size_t *size);
void manifest_free(struct manifest *manifest);

/* Copies the strings. -EEXIST: it has a file of that name, and is unchanged; -E2BIG: it has MANIFEST_FILES_MOST. */
int manifest_add(struct manifest *manifest, const struct manifest_file *file, struct fathom_error *err);
/* NULL: none of that name. */
const struct manifest_file *manifest_find(const struct manifest *manifest, const char *name);

#endif
