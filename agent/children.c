#include "agent/children.h"

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

#include "base/file.h"

#define STOP_WAIT_US 50000
#define PIPE_BYTES   65536
#define STOP_TRIES   400 /* 20 s: a recorder completes its file */

/* By path, so that the process has the program's name; or, if that was replaced or removed, by the running
 * file. */
static void execute_command(const char *const *argv)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    execv(path, (char *const *)(uintptr_t)argv);
    execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
}

struct start {
    const char *const *argv;
    bool idle;
    int output[2], errors[2]; /* pipes; -1: none */
    int held;
    pid_t agent;
};

static _Noreturn void become(const struct start *s)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE, SIGUSR1};
    sigset_t later;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        signal(caught[i], SIG_DFL);
    sigemptyset(&later);
    sigaddset(&later, SIGUSR1); /* stays pending until a recorder handles it */
    sigprocmask(SIG_SETMASK, &later, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != s->agent)
        _exit(0);
    dup2(null, STDIN_FILENO);
    dup2(s->idle ? s->output[1] : null, STDOUT_FILENO);
    if (s->idle) {
        dup2(s->errors[1], STDERR_FILENO);
        sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
    }
    if (s->idle && setpriority(PRIO_PROCESS, 0, 10) != 0)
        _exit(127);
    if (s->held >= 0)
        fcntl(s->held, F_SETFD, 0);
    execute_command(s->argv);
    _exit(127);
}

static void close_both(const int pipes[2])
{
    for (int i = 0; i < 2; i++)
        if (pipes[i] >= 0)
            close(pipes[i]);
}

int child_start(struct child *c, const char *const *argv, bool idle, int held, struct fathom_error *err)
{
    struct start s = {argv, idle, {-1, -1}, {-1, -1}, held, getpid()};
    pid_t pid = -1;
    if (!idle ||
        (pipe2(s.output, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(s.errors, O_CLOEXEC | O_NONBLOCK) == 0))
        pid = fork();
    if (pid == 0)
        become(&s);
    const int failed = errno;
    if (pid < 0) {
        close_both(s.output);
        close_both(s.errors);
        return error_system(err, failed, "cannot start 'fathom %s'", argv[1]);
    }
    if (idle) {
        close(s.output[1]);
        close(s.errors[1]);
        c->output = s.output[0];
        c->errors = s.errors[0];
    }
    c->pid = pid;
    return 0;
}

double child_cpu_used(const struct rusage *used)
{
    const struct timeval *u = &used->ru_utime, *s = &used->ru_stime;
    return (double)(u->tv_sec + s->tv_sec) + (double)(u->tv_usec + s->tv_usec) * 1e-6;
}

static bool collect_status(struct child *c, int options, int *status)
{
    struct rusage used;
    if (!c->pid || wait4(c->pid, status, options, &used) != c->pid)
        return false;
    c->cpu += child_cpu_used(&used);
    c->pid = 0;
    return true;
}

static char *read_all(int *pipe)
{
    char *text = NULL;
    size_t size;
    if (*pipe && file_read_text(*pipe, PIPE_BYTES, &text, &size) < 0)
        text = NULL;
    if (*pipe)
        close(*pipe);
    *pipe = 0;
    return text;
}

void child_told(struct child *c, char **output, char **errors)
{
    *output = read_all(&c->output);
    *errors = read_all(&c->errors);
}

bool child_ended(struct child *c, int *status)
{
    return collect_status(c, WNOHANG, status);
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
    for (int tries = 0; tries < STOP_TRIES && !collect_status(c, WNOHANG, &status); tries++)
        usleep(STOP_WAIT_US);
    if (c->pid)
        kill(c->pid, SIGKILL);
    while (c->pid && !collect_status(c, 0, &status) && errno == EINTR)
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
