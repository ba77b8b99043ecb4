/*
 * build_id.h - the identity of an ELF file: the linker's hash of its contents, in a note (NT_GNU_BUILD_ID).
 */
#ifndef FATHOM_IMAGE_ELF_BUILD_ID_H
#define FATHOM_IMAGE_ELF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define BUILD_ID_MAX 20

struct build_id {
    uint8_t size; /* bytes used; 0: the file has none */
    uint8_t bytes[BUILD_ID_MAX];
};

/* A copy; empty if there are more bytes than a build-id has. */
struct build_id build_id_of(const uint8_t *bytes, size_t size);
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* Hex text, "" for none; out has room for 2 * BUILD_ID_MAX + 1 characters. */
void build_id_format(const struct build_id *id, char *out);
/* Reads a file's build-id and nothing else. id->size is 0 if it has none. */
int build_id_read(const char *path, struct build_id *id, struct fathom_error *err);

#endif
