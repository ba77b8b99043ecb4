/* probe_run.c - see probe_run.h. */
#include "cli/probe_run.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "cli/interrupt.h"
#include "cli/probe_launch.h"

#define SERVE_MS      50  /* between checks on the command */
#define GRACE_SECONDS 3.0 /* for a command that was sent SIGTERM */

/* A child's end interrupts the wait for requests. */
static void on_child(int signal)
{
    (void)signal;
}

static double now_seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

/* Answers the runtime until the command ends, or terminates it. */
static void serve(const struct probe_run *run, pid_t pid, int *status)
{
    double start = now_seconds(), end = 0;
    bool asked = false;
    for (pid_t ended; (ended = waitpid(pid, status, WNOHANG)) != pid;) {
        *status = -1;
        if (ended < 0 && errno == ECHILD) /* SIGCHLD was ignored: it is gone, and so is its status */
            break;
        double now = now_seconds();
        bool stop = interrupt_count() || (run->duration > 0 && now - start >= run->duration);
        if (stop && end == 0) {
            kill(pid, SIGTERM);
            end = now + GRACE_SECONDS;
        }
        if (end != 0 && now >= end)
            break;
        if (session_serve(run->session, SERVE_MS) && !asked) {
            asked = true;
            if (run->asked)
                run->asked(run->context, pid);
        }
        if (run->poll)
            run->poll(run->context);
    }
}

/* Signals between the start of the command and the end are ours to handle; the command gets the dispositions that
 * we had before. */
int probe_run(const struct probe_run *run, int *status, struct fathom_error *err)
{
    struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP}, old_child;
    struct interrupts before;
    sigset_t all, mask;
    pid_t pid;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    *status = -1;
    int rc = probe_launch(run->command, run->library, session_directory(run->session), &pid, err);
    interrupt_catch(&before);
    sigaction(SIGCHLD, &child, &old_child);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (rc == 0)
        serve(run, pid, status);
    sigaction(SIGCHLD, &old_child, NULL);
    interrupt_restore(&before);
    return rc;
}
