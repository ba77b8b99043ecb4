/* probe_launch.h - starts a command with the probe runtime preloaded. */
#ifndef FATHOM_API_HOOKS_PROBE_LAUNCH_H
#define FATHOM_API_HOOKS_PROBE_LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct probe_launch {
    const char *library;   /* the runtime */
    const char *directory; /* the session's */
    const char *libraries; /* a directory to search for libraries first; NULL: none */
};

/* Starts the command with LD_PRELOAD and FATHOM_PROBE set. It inherits the caller's signal dispositions, except for SIGPIPE and SIGXFSZ, and
 * the standard files. -ENOENT, -EACCES, ...: it cannot be executed. */
int probe_launch(char *const *command, const struct probe_launch *how, pid_t *pid, struct fathom_error *err);

#endif
