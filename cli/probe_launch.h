/*
 * probe_launch.h - starts a command with the probe runtime preloaded.
 */
#ifndef FATHOM_CLI_PROBE_LAUNCH_H
#define FATHOM_CLI_PROBE_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Where libfathom-probe.so is: $FATHOM_PROBE_LIBRARY, else next to the running fathom if that is in its build
 * directory, else where it is installed. -ENOENT; -EINVAL: a path that LD_PRELOAD cannot take. */
int probe_library(char *path, size_t size, struct fathom_error *err);

/* Runs the command with LD_PRELOAD and FATHOM_PROBE set. Its signal dispositions are those from before
 * `fathom` caught any; it inherits the standard files. -ENOENT, -EACCES, ...: it cannot be run. */
int probe_launch(char *const *command, const char *library, const char *directory, pid_t *pid,
                 struct fathom_error *err);

#endif
