/*
 * hooked.h - runs a command with the probe runtime: opens its session (pathmap/train/session.h), and serves it until the command ends.
 *
 * The session's directory is removed when this process ends, however it ends, unless it has calls that a map can still be made of
 * (map/recover.h).
 */
#ifndef FATHOM_API_HOOKS_HOOKED_H
#define FATHOM_API_HOOKS_HOOKED_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "api/host.h"
#include "pathmap/train/session.h"

struct hooked { /* zero-initialised: no command */
    struct session *session;
    struct scratch *watch;
    char library[4096]; /* the runtime */
    atomic_bool stop;   /* end the command; a signal handler may set it */
    int status;         /* wait status of the command; -1: still running */
    pid_t pid;
    double started, ends; /* seconds; ends: when to stop waiting for it, 0: not yet set */
    bool asked;
};

/* Recovers or removes abandoned sessions, and opens a new one. runtime: as for fathom_runtime_find(). Call it before other threads exist. */
int hooked_open(struct hooked *hooked, const struct session_options *options, const char *runtime,
                const struct host *host, struct fathom_error *err);
/* Starts the command with the runtime preloaded, and with its caller's signal dispositions, except for SIGPIPE and SIGXFSZ, and standard
 * files. libraries: a directory to search for libraries first; NULL: none. -ENOENT, -EACCES, ...: it cannot be executed. */
int hooked_start(struct hooked *hooked, char *const *command, const char *libraries,
                 struct fathom_error *err);

struct hooked_serving {
    const atomic_bool *stop;                 /* NULL: that of struct hooked */
    double duration;                         /* seconds until SIGTERM; 0: no limit */
    void (*asked)(void *context, pid_t pid); /* called at the first request; may be NULL */
    void (*poll)(void *context);             /* called about 20 times a second; may be NULL */
    void *context;                           /* of both */
};
/* Answers the runtime's requests until the command ends, or some seconds after it was sent SIGTERM. seconds: returns true after this time if
 * the command still runs; 0: no limit. The command's end is noticed at once with a signal handler for SIGCHLD, else within 50 ms. */
bool hooked_serve(struct hooked *hooked, const struct hooked_serving *serving, double seconds);
void hooked_close(struct hooked *hooked);

#endif
