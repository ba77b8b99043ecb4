/* children.c - see children.h. */
#include "cli/agent/children.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_WAIT_US 50000
#define STOP_TRIES   400 /* 20 s: a recorder completes its file */

/* By its path, so that the process has the program's name; or the file that it was, if another is there by now, or none. */
static void execute(const char *const *argv)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    execv(path, (char *const *)(uintptr_t)argv);
    execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
}

static _Noreturn void become(const char *const *argv, bool idle, int output, pid_t agent)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};
    sigset_t none;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        signal(caught[i], SIG_DFL);
    signal(SIGUSR1, SIG_IGN); /* which a recorder catches only once it records */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != agent)
        _exit(0);
    dup2(null, STDIN_FILENO);
    dup2(output >= 0 ? output : null, STDOUT_FILENO);
    if (idle)
        sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
    if (idle && setpriority(PRIO_PROCESS, 0, 10) != 0)
        _exit(127);
    execute(argv);
    _exit(127);
}

int child_start(struct child *c, const char *const *argv, bool idle, struct fathom_error *err)
{
    int pipes[2] = {-1, -1};
    if (idle && pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
        return error_system(err, errno, "cannot start 'fathom %s'", argv[1]);
    pid_t agent = getpid(), pid = fork();
    if (pid == 0)
        become(argv, idle, pipes[1], agent);
    const int failed = errno;
    if (idle)
        close(pipes[1]);
    if (pid < 0) {
        if (idle)
            close(pipes[0]);
        return error_system(err, failed, "cannot start 'fathom %s'", argv[1]);
    }
    c->pid = pid;
    c->output = idle ? pipes[0] : 0;
    return 0;
}

double child_cpu_used(const struct rusage *used)
{
    const struct timeval *u = &used->ru_utime, *s = &used->ru_stime;
    return (double)(u->tv_sec + s->tv_sec) + (double)(u->tv_usec + s->tv_usec) * 1e-6;
}

static bool collect(struct child *c, int options, int *status)
{
    struct rusage used;
    if (!c->pid || wait4(c->pid, status, options, &used) != c->pid)
        return false;
    c->cpu += child_cpu_used(&used);
    c->pid = 0;
    return true;
}

void child_told(struct child *c, char *text, size_t size)
{
    const ssize_t got = c->output ? read(c->output, text, size - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    if (c->output)
        close(c->output);
    c->output = 0;
}

bool child_ended(struct child *c, int *status)
{
    return collect(c, WNOHANG, status);
}

void child_signal(const struct child *c, int signal)
{
    if (c->pid)
        kill(c->pid, signal);
}

void child_stop(struct child *c)
{
    int status;
    if (!c->pid)
        return;
    kill(c->pid, SIGTERM);
    for (int tries = 0; tries < STOP_TRIES && !collect(c, WNOHANG, &status); tries++)
        usleep(STOP_WAIT_US);
    if (c->pid)
        kill(c->pid, SIGKILL);
    while (c->pid && !collect(c, 0, &status) && errno == EINTR)
        ;
}

double child_cpu(const struct child *c)
{
    clockid_t clock;
    struct timespec t;
    if (!c->pid || clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return c->cpu;
    return c->cpu + (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
