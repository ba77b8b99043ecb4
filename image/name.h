/*
 * name.h - how a function's name is displayed, whatever its source.
 */
#ifndef FATHOM_IMAGE_NAME_H
#define FATHOM_IMAGE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The demangled symbol, or the raw one. Without a symbol (NULL), the file's name up to its first version number
 * and the address: "libsqlite3.so.0+0x1234". file may be a path. Returns a length like snprintf. */
int name_format(const char *file, const char *symbol, uint64_t address, char *out, size_t size);

struct image;
/* The same for the function at an address of the image or, if there is none, for the address. */
int name_at(const struct image *image, uint64_t address, char *out, size_t size);

/* Whether a file's name, without its directories, begins with one of these names. */
bool name_begins(const char *path, const char *const *names, size_t count);
/* Whether a file (path) is the C library or its loader, by its name. */
bool name_is_c_library(const char *path);

#endif
