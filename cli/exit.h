/*
 * exit.h - the exit codes that every sub-command shares; man pages list them.
 */
#ifndef FATHOM_CLI_EXIT_H
#define FATHOM_CLI_EXIT_H

#include "base/error.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_OTHER = 1,      /* any other failure */
    EXIT_USAGE = 2,      /* the command line makes no sense */
    EXIT_PERMISSION = 3, /* perf_event_paranoid, not the owner */
    EXIT_INPUT = 4,      /* a damaged or unusable input file */
    EXIT_MISSING = 5,    /* no such process, command or file */
    EXIT_OUTPUT = 6,     /* no space, or a file that cannot be written */
    EXIT_BUILD = 7,      /* a map or binary of another build */
};

/* The exit code for a failure: by its errno (base/error.h says that errors carry one). */
int exit_code_of(const struct fathom_error *err);
/* The exit code that passes on a launched command's wait status: its own, or 128 + signal. */
int exit_code_of_status(int wait_status);

#endif
