/*
 * probe_run.h - runs a command under the probe runtime, and answers its requests until it ends.
 */
#ifndef FATHOM_CLI_PROBE_RUN_H
#define FATHOM_CLI_PROBE_RUN_H

#include <sys/types.h>

#include "base/error.h"
#include "pathmap/train/session.h"

struct probe_run {
    char *const *command;
    const char *library;                     /* the runtime, probe_library()'s */
    struct session *session;                 /* all are borrowed */
    double duration;                         /* seconds until the command is sent SIGTERM; 0: none */
    void (*asked)(void *context, pid_t pid); /* at its first request; NULL: nothing to do */
    void (*poll)(void *context);             /* about 20 times a second; NULL */
    void *context;                           /* of both */
};

/* SIGINT and SIGTERM end the command, which has some seconds to obey. *status: its wait status; -1: it is still
 * running. Errors: probe_launch()'s. */
int probe_run(const struct probe_run *run, int *status, struct fathom_error *err);

#endif
