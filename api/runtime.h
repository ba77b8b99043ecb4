/*
 * runtime.h - the libraries that are loaded into other programs: where they are, and the environment that has them loaded.
 */
#ifndef FATHOM_API_RUNTIME_H
#define FATHOM_API_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct runtime {
    const char *library;  /* the file's name */
    const char *variable; /* of the environment, by which users say where it is */
    const char *what;     /* for messages */
};

/* Finds it where the caller says (given; NULL or empty: nothing), beside this library or program, or in the configured directory.
 * path: room for `size` bytes. -ENOENT and the like; -EINVAL: LD_PRELOAD cannot have that path. */
int runtime_find(const struct runtime *runtime, const char *given, char *path, size_t size,
                 struct fathom_error *err);

struct runtime_variable {
    const char *name;
    const char *value; /* NULL: as it is */
    bool list;         /* goes in front of what it was, with a colon */
};

/* A copy of this process's environment with these set. NULL: out of memory. */
char **runtime_environment(const struct runtime_variable *variables, size_t count);
void runtime_environment_free(char **environment); /* NULL is allowed */

#endif
