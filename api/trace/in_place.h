/*
 * in_place.h - runs a command with some files replaced, for that command only: in a mount namespace of its own (mount_namespaces(7)), with the
 * new files bound over the original ones. So the program finds itself and its libraries at their usual paths. Users who may not mount also
 * get a user namespace (user_namespaces(7)).
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

/* Tries in a child process whether that is allowed: 0, or -EPERM and others. Call it, and the next one, before other threads exist. */
int in_place_try(const struct in_place *files, size_t count);

struct in_place_run {
    char *const *command;
    const char *program; /* the file to execute; NULL: search for the command's name */
    char *const *environment;
    const struct in_place *files;
    size_t count; /* number of files; 0: without a namespace of its own */
    bool quiet;   /* its input and output are /dev/null */
};

/* Starts the command. It inherits the caller's signal dispositions, except for SIGPIPE and SIGXFSZ, and the standard files. */
int in_place_start(const struct in_place_run *run, pid_t *pid, struct fathom_error *err);

#endif
