/*
 * probe_launch.h - starts a command with the probe runtime preloaded.
 */
#ifndef FATHOM_CLI_PROBE_LAUNCH_H
#define FATHOM_CLI_PROBE_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Where libfathom-probe.so is: $FATHOM_PROBE_LIBRARY, else beside the fathom that runs when that is in its
 * build directory, else where it is installed. -ENOENT; -EINVAL: a place that LD_PRELOAD cannot name. */
int probe_library(char *path, size_t size, struct fathom_error *err);

/* Runs the command with LD_PRELOAD and FATHOM_PROBE set. Its signals are as they were before `fathom` caught
 * any; standard files are handed on. -ENOENT, -EACCES, ...: it cannot be run. */
int probe_launch(char *const *command, const char *library, const char *directory, pid_t *pid,
                 struct fathom_error *err);

#endif
