/* children.h - the commands of Fathom that the agent runs as processes of their own: each gives up the rights that it does not need. */
#ifndef FATHOM_AGENT_CHILDREN_H
#define FATHOM_AGENT_CHILDREN_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct child {
    pid_t pid;          /* 0: none runs */
    double cpu;         /* s, of those that have ended */
    int output, errors; /* what it prints can be read there; 0: it goes nowhere, and to the agent's own */
};

/* argv ends with NULL; argv[1] is a command of Fathom. It gets SIGTERM when the agent ends, however. idle: at a low priority, and what it
 * prints, of less than a pipe's 64 KB, is kept for child_told(). held: a descriptor that it has, too; -1: none. */
int child_start(struct child *child, const char *const *argv, bool idle, int held, struct fathom_error *err);
/* Whether it has ended just now: then *status is what waitpid() says. */
bool child_ended(struct child *child, int *status);
/* What it has printed on standard output and error, malloc'd: once, after it has ended. NULL: it cannot be told. */
void child_told(struct child *child, char **output, char **errors);
void child_signal(const struct child *child, int signal); /* nothing if none runs */
/* Has it end, and waits for that: 20 s, after which it is killed. */
void child_stop(struct child *child);
double child_cpu(const struct child *child);      /* s, with the one that runs */
double child_cpu_used(const struct rusage *used); /* s, of both kinds */

#endif
