/*
 * pack.h - makes an archive: a tar file in the pax format, compressed with zstd, of regular files. The first is the manifest
 * (manifest.h). libarchive writes it.
 */
#ifndef FATHOM_ARCHIVE_PACK_H
#define FATHOM_ARCHIVE_PACK_H

#include "archive/manifest.h"

struct pack;

struct pack *pack_new(void); /* NULL: out of memory */
void pack_free(struct pack *pack);

struct pack_source {
    const char *path; /* a regular file; pack_write() reads it again */
    const void *data; /* or these bytes, which are copied */
    size_t size;      /* of them */
};
/* Adds a member, unless there is one of that name. from: its origin, for the manifest. */
int pack_add(struct pack *pack, const char *name, const struct pack_source *source, const char *from,
             struct fathom_error *err);
/* Sets the user's name for the map. */
int pack_map(struct pack *pack, const char *name, struct fathom_error *err);
/* The number of files, and their bytes. */
size_t pack_count(const struct pack *pack, uint64_t *bytes);
/* output: the archive's name, for messages. -ESTALE: a file has changed meanwhile. */
int pack_write(const struct pack *pack, int fd, const char *output, struct fathom_error *err);

#endif
