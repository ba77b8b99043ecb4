/*
 * hooked.h - a command that runs with the probe runtime: its session (pathmap/train/session.h), and answers until it ends.
 *
 * The session's directory goes when this process ends, however that ends. Only calls that a map can still be made of stay there,
 * for map/recover.h.
 */
#ifndef FATHOM_API_HOOKS_HOOKED_H
#define FATHOM_API_HOOKS_HOOKED_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "api/host.h"
#include "pathmap/train/session.h"

struct hooked { /* zeroed: none */
    struct session *session;
    struct scratch *watch;
    char library[4096]; /* the runtime */
    atomic_bool stop;   /* a signal handler may set it: end the command */
    int status;         /* wait status of the command; -1: it is still running */
    pid_t pid;
    double started, ends; /* seconds; ends: when it is waited for no longer, 0: not known */
    bool asked;
};

/* Recovers, or removes, what earlier ones left, and opens this one. runtime: fathom_runtime_find()'s. To be called before other threads
 * exist. */
int hooked_open(struct hooked *hooked, const struct session_options *options, const char *runtime,
                const struct host *host, struct fathom_error *err);
/* Runs the command. Errors: probe_launch()'s. */
int hooked_start(struct hooked *hooked, char *const *command, const char *libraries,
                 struct fathom_error *err);

struct hooked_serving {
    const atomic_bool *stop;                 /* NULL: struct hooked's alone */
    double duration;                         /* seconds until the command is sent SIGTERM; 0: none */
    void (*asked)(void *context, pid_t pid); /* at its first request; NULL: nothing to do */
    void (*poll)(void *context);             /* about 20 times a second; NULL */
    void *context;                           /* of both */
};
/* Answers the runtime until the command ends, or terminates it: then it has some seconds to obey. seconds: returns true after so
 * many if it still runs; 0: never. A signal handler for SIGCHLD has the end noticed at once, else it is within 50 ms. */
bool hooked_serve(struct hooked *hooked, const struct hooked_serving *serving, double seconds);
void hooked_close(struct hooked *hooked);

#endif
