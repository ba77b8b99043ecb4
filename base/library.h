/*
 * library.h - shared libraries that are loaded when they are first needed. What libcurl and libarchive need in turn (three dozen
 * libraries) takes longer to load than the rest of Fathom takes to start.
 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct library_function {
    const char *name;
    void *address; /* of the pointer to set */
};

struct library {
    const char *file; /* its SONAME */
    const struct library_function *functions;
    size_t count;
    bool loaded;
};

/* Loads the library unless it is loaded, and sets the pointers to its functions. It stays loaded: some of these
 * libraries cannot be unloaded safely. Safe in several threads. Returns 0, or with an error set -ELIBACC if it cannot
 * be loaded, -ELIBBAD if it lacks a function. */
int library_load(struct library *library, struct fathom_error *err);

#endif
