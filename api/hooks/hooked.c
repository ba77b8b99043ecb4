#include "api/hooks/hooked.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/fathom/train.h"
#include "api/map/recover.h"
#include "api/runtime.h"
#include "base/clock.h"
#include "base/scratch.h"
#include "base/text.h"
#include "pathmap/train/session_directory.h"

#define SERVE_MS      50  /* between checks on the command */
#define GRACE_SECONDS 3.0 /* for a command that was sent SIGTERM */

int fathom_runtime_find(const char *given, char *path, size_t size, struct fathom_error *err)
{
    static const struct runtime probe = {"libfathom-probe.so", "FATHOM_PROBE_LIBRARY", "probe runtime"};
    return runtime_find(&probe, given, path, size, err);
}

int hooked_open(struct hooked *h, const struct session_options *options, const char *runtime,
                const struct host *host, struct fathom_error *err)
{
    sigset_t all, before; /* no signal may end this process before the new directory is watched */
    *h = (struct hooked){.status = -1};
    int rc = fathom_runtime_find(runtime, h->library, sizeof h->library, err);
    if (rc < 0)
        return rc;
    recover_abandoned(&host->log);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    rc = session_open(options, &h->session, err);
    if (rc == 0)
        rc = scratch_watch(session_directory(h->session),
                           options->no_map ? NULL : session_directory_has_calls, &h->watch, err);
    if (rc < 0)
        hooked_close(h);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int hooked_start(struct hooked *h, char *const *command, const char *libraries, struct fathom_error *err)
{
    const struct runtime_variable variables[] = {{"FATHOM_PROBE", session_directory(h->session), false},
                                                 {"LD_PRELOAD", h->library, true},
                                                 {"LD_LIBRARY_PATH", libraries, true}};
    char **environment = runtime_environment(variables, sizeof variables / sizeof *variables);
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    int code = environment ? 0 : ENOMEM;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* if ignored here, the command would ignore it too */
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (environment)
        code = posix_spawnp(&h->pid, command[0], NULL, &attributes, command, environment);
    posix_spawnattr_destroy(&attributes);
    runtime_environment_free(environment);
    h->started = clock_seconds();
    if (code == ENOENT)
        return error_set(err, code, "cannot run %s: not found", text_name(command[0]));
    return code ? error_system(err, code, "cannot run %s", text_name(command[0])) : 0;
}

bool hooked_serve(struct hooked *h, const struct hooked_serving *serving, double seconds)
{
    double from = clock_seconds();
    for (pid_t ended; (ended = waitpid(h->pid, &h->status, WNOHANG)) != h->pid;) {
        h->status = -1;
        if (ended < 0 && errno == ECHILD) /* SIGCHLD is ignored, so that the status is lost */
            break;
        double now = clock_seconds();
        bool stop = atomic_load(serving->stop ? serving->stop : &h->stop) ||
                    (serving->duration > 0 && now - h->started >= serving->duration);
        if (stop && h->ends == 0) {
            kill(h->pid, SIGTERM);
            h->ends = now + GRACE_SECONDS;
        }
        if (h->ends != 0 && now >= h->ends)
            break;
        if (seconds > 0 && now - from >= seconds)
            return true;
        if (session_serve(h->session, SERVE_MS) && !h->asked) {
            h->asked = true;
            if (serving->asked)
                serving->asked(serving->context, h->pid);
        }
        if (serving->poll)
            serving->poll(serving->context);
    }
    return false;
}

void hooked_close(struct hooked *h)
{
    session_close(h->session); /* removes it at once; the watch then finds nothing */
    scratch_free(h->watch);
    *h = (struct hooked){0};
}
