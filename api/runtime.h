/* runtime.h - finds the libraries that are loaded into other programs, and makes the environment that loads them. */
#ifndef FATHOM_API_RUNTIME_H
#define FATHOM_API_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct runtime {
    const char *library;  /* the file's name */
    const char *variable; /* environment variable with its path */
    const char *what;     /* for messages */
};

/* Finds it at the path `given` (NULL or empty: none), else near this library or program, or in the configured directory. path: a buffer of
 * `size` bytes. -ENOENT and the like; -EINVAL: LD_PRELOAD cannot have that path. */
int runtime_find(const struct runtime *runtime, const char *given, char *path, size_t size,
                 struct fathom_error *err);

struct runtime_variable {
    const char *name;
    const char *value; /* NULL: unchanged */
    bool list;         /* put the value and a colon before the old value */
};

/* A copy of this process's environment with these set. NULL: out of memory. */
char **runtime_environment(const struct runtime_variable *variables, size_t count);
void runtime_environment_free(char **environment); /* NULL is allowed */

#endif
