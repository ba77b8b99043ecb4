/* launch.c - forks a command now and executes it later; see launch.h. */
#include "collector/targets/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "collector/targets/stackbase.h"

/* Resets signals to what a new program expects. Those that the user ignores (nohup) stay ignored. */
static void reset_signals(void)
{
    sigset_t none;
    for (int n = 1; n < NSIG; n++) {
        struct sigaction now;
        if (sigaction(n, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(n, SIG_DFL);
    }
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static ssize_t read_whole(int fd, void *to, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, (char *)to + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

/* The child's report: first whether it is traced (one byte), then errno if the exec failed. */
static _Noreturn void run_child(char *const *argv, char *const *environment, int go, int told)
{
    char byte;
    reset_signals();
    if (read_whole(go, &byte, 1) != 1)
        _exit(127); /* the collector gave up or is gone */
    byte = ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
    ssize_t n = write(told, &byte, 1);
    execvpe(argv[0], argv, environment ? environment : environ);
    int code = errno;
    n = write(told, &code, sizeof code);
    _exit(n == (ssize_t)sizeof code ? 127 : 126);
}

int launch_fork(char *const *argv, char *const *environment, struct launch *launch, struct fathom_error *err)
{
    int go[2], told[2];
    /* A socket, so that writing to a child that is gone raises no SIGPIPE. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
        return error_system(err, errno, "cannot make a socket pair");
    if (pipe2(told, O_CLOEXEC) != 0) {
        int code = errno;
        close(go[0]);
        close(go[1]);
        return error_system(err, code, "cannot make a pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        close(told[0]);
        run_child(argv, environment, go[0], told[1]);
    }
    int code = errno;
    close(go[0]);
    close(told[1]);
    if (pid < 0) {
        close(go[1]);
        close(told[0]);
        return error_system(err, code, "cannot fork to run %s", argv[0]);
    }
    *launch = LAUNCH_NONE;
    launch->pid = pid;
    launch->go = go[1];
    launch->told = told[0];
    launch->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    return 0;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Waits for the stop at the exec, and notes the stack's base. */
static void await_exec_stop(struct launch *launch)
{
    for (;;) {
        int status;
        pid_t got = waitpid(launch->pid, &status, __WALL);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != launch->pid)
            return;
        if (!WIFSTOPPED(status)) {
            launch->status = status;
            return;
        }
        if (WSTOPSIG(status) == SIGTRAP)
            break;
        ptrace(PTRACE_CONT, launch->pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
    }
    struct proc_stat stat;
    struct maps maps;
    if (proc_stat(launch->pid, &stat) == 0 && stat.start_stack && proc_maps(launch->pid, &maps) == 0) {
        launch->base = stat.start_stack;
        launch->low = stackbase_main_low(launch->pid, stat.start_stack, &maps);
        proc_maps_free(&maps);
    }
    launch->stopped = true;
}

int launch_go(struct launch *launch, const char *name, struct fathom_error *err)
{
    char traced = 1;
    int code = 0;
    ssize_t n;
    do
        n = send(launch->go, &traced, 1, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n != 1 || read_whole(launch->told, &traced, 1) != 1) {
        launch_check(launch);
        return error_set(err, ESRCH, "cannot run %s: the process ended before it started", name);
    }
    bool failed = read_whole(launch->told, &code, sizeof code) == (ssize_t)sizeof code;
    close_end(&launch->go);
    close_end(&launch->told);
    if (failed) {
        while (waitpid(launch->pid, &launch->status, 0) < 0 && errno == EINTR)
            ;
        launch->pid = 0;
        if (code == ENOENT)
            return error_set(err, code, "cannot run %s: not found", text_name(name));
        return error_system(err, code, "cannot run %s", text_name(name));
    }
    launch->started = true;
    if (traced)
        await_exec_stop(launch);
    return 0;
}

void launch_release(struct launch *launch)
{
    if (launch->stopped)
        ptrace(PTRACE_DETACH, launch->pid, NULL, NULL);
    launch->stopped = false;
}

static uint64_t ticks_of(const struct timeval *time)
{
    const uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)time->tv_sec * second + (uint64_t)time->tv_usec * second / 1000000;
}

void launch_check(struct launch *launch)
{
    int status;
    struct rusage used;
    if (launch->pid <= 0 || launch->status != -1 ||
        wait4(launch->pid, &status, WNOHANG, &used) != launch->pid || WIFSTOPPED(status))
        return;
    launch->status = status;
    launch->user = ticks_of(&used.ru_utime);
    launch->kernel = ticks_of(&used.ru_stime);
}

void launch_close(struct launch *launch)
{
    close_end(&launch->go); /* ends a child that still waits */
    close_end(&launch->told);
    close_end(&launch->pidfd);
    if (launch->stopped)
        kill(launch->pid, SIGKILL);
    if (launch->pid > 0 && (launch->stopped || !launch->started) && launch->status == -1)
        while (waitpid(launch->pid, &launch->status, 0) < 0 && errno == EINTR)
            ;
}
