/* children.h - the Fathom commands that the agent runs as child processes: each drops the privileges that it
 * does not need. */
#ifndef FATHOM_AGENT_CHILDREN_H
#define FATHOM_AGENT_CHILDREN_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct child {
    pid_t pid;  /* 0: none runs */
    double cpu; /* s, of ended children */
    int output,
        /* read ends of its output; 0: standard output is discarded, and errors go to the agent's own */
        errors;
};

/* argv ends with NULL; argv[1] is a command of Fathom. The child gets SIGTERM whenever the agent ends. idle:
 * at a low priority, and with its output, less than a pipe's 64 KB, saved for child_told(). held: a
 * descriptor for the child to keep; -1: none. */
int child_start(struct child *child, const char *const *argv, bool idle, int held, struct fathom_error *err);
/* Whether the child has just ended; then *status is that of waitpid(). */
bool child_ended(struct child *child, int *status);
/* Its standard output and error, malloc'd: once, after it has ended. NULL: unknown. */
void child_told(struct child *child, char **output, char **errors);
void child_signal(const struct child *child, int signal); /* does nothing if none runs */
/* Terminates it and waits for that; kills it after 20 s. */
void child_stop(struct child *child);
double child_cpu(const struct child *child);      /* s, including the running child */
double child_cpu_used(const struct rusage *used); /* s, user and system time */

#endif
