#include "api/hooks/hooked.h"

#include <errno.h>
#include <sys/wait.h>

#include "api/fathom/train.h"
#include "api/hooks/probe_launch.h"
#include "api/map/recover.h"
#include "base/clock.h"
#include "base/scratch.h"
#include "pathmap/train/session_directory.h"

#define SERVE_MS      50  /* between checks on the command */
#define GRACE_SECONDS 3.0 /* for a command that was sent SIGTERM */

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

static double now_seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

int hooked_start(struct hooked *h, char *const *command, const char *libraries, struct fathom_error *err)
{
    struct probe_launch how = {h->library, session_directory(h->session), libraries};
    int rc = probe_launch(command, &how, &h->pid, err);
    h->started = now_seconds();
    return rc;
}

bool hooked_serve(struct hooked *h, const struct hooked_serving *serving, double seconds)
{
    double from = now_seconds();
    for (pid_t ended; (ended = waitpid(h->pid, &h->status, WNOHANG)) != h->pid;) {
        h->status = -1;
        if (ended < 0 && errno == ECHILD) /* SIGCHLD is ignored, so that the status is lost */
            break;
        double now = now_seconds();
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
