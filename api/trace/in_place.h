/*
 * in_place.h - runs a command with other files in the place of some, which nobody else sees: in a mount namespace of its own
 * (mount_namespaces(7)), where the others are bound over them. So the program finds itself and its libraries where they are. Users
 * without the right to mount get a user namespace, too (user_namespaces(7)).
 */
#ifndef FATHOM_API_TRACE_IN_PLACE_H
#define FATHOM_API_TRACE_IN_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct in_place {
    const char *original, *other; /* absolute paths */
};

/* Whether that is allowed here: tries it in a process that ends. -EPERM and others: it is not. To be called before other threads exist, as
 * the next one. */
int in_place_try(const struct in_place *files, size_t count);

struct in_place_run {
    char *const *command;
    const char *program; /* the file to execute; NULL: the command's name is looked for */
    char *const *environment;
    const struct in_place *files;
    size_t count; /* of them; 0: it runs in no namespace of its own */
    bool quiet;   /* what it prints goes nowhere, and it reads nothing */
};

/* Starts the command. It gets the caller's signal dispositions, but for SIGPIPE and SIGXFSZ, and inherits the standard files. */
int in_place_start(const struct in_place_run *run, pid_t *pid, struct fathom_error *err);

#endif
