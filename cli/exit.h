/* exit.h - the exit codes that all sub-commands share, as listed in the man pages. */
#ifndef FATHOM_CLI_EXIT_H
#define FATHOM_CLI_EXIT_H

#include "cli/terminal.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_OTHER = 1,      /* any other failure */
    EXIT_USAGE = 2,      /* an invalid command line */
    EXIT_PERMISSION = 3, /* perf_event_paranoid, or a process of another user */
    EXIT_INPUT = 4,      /* a damaged or unusable input file */
    EXIT_MISSING = 5,    /* no such process, command or file */
    EXIT_OUTPUT = 6,     /* no space, or an output file that cannot be written */
    EXIT_BUILD = 7,      /* a map or binary from a different build */
    EXIT_NOTHING = 7,    /* no sample or burst was taken, or the options leave none; no counters to check */
};

/* Maps the errno of an error to an exit code. */
int exit_code_of(const struct fathom_error *err);
/* The exit code of a result: EXIT_OK, or if it is negative that of the error, which is printed. */
int exit_result(struct terminal *terminal, int rc, const struct fathom_error *err);
/* The exit code that passes on a launched command's wait status: its own, or 128 + signal. */
int exit_code_of_status(int wait_status);

#endif
