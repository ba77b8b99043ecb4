/*
 * traps.c - a program that uses SIGTRAP and signal masks itself. It prints the same with and without the
 * probe.
 *
 * "traps blocked": started with SIGTRAP blocked, says whether it finds it so.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/program.h"

static volatile int traps, codes, other;

/* What handlers call: has a hook. */
static KNOWN int hooked(int x)
{
    CALLED();
    return x + 1;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
    (void)context;
    traps = hooked(traps);
    codes = info->si_code;
    if (sig != SIGTRAP)
        traps = -1000;
}

static void on_trap_simple(int sig)
{
    traps = hooked(traps) + (sig != SIGTRAP);
}

static void on_other(int sig)
{
    (void)sig;
    other = hooked(other);
}

static void tell(const char *what, int value)
{
    printf("%s: %d\n", what, value);
    fflush(stdout);
}

static bool blocked(void)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, SIGTRAP);
}

static void handlers(void)
{
    struct sigaction a = {.sa_flags = SA_SIGINFO}, old;
    a.sa_sigaction = on_trap;
    sigaction(SIGTRAP, NULL, &old);
    tell("at first the default", old.sa_handler == SIG_DFL);
    tell("set", sigaction(SIGTRAP, &a, &old));
    raise(SIGTRAP);
    tell("raised", traps);
    tell("by tkill", codes == SI_TKILL);
    __asm__ volatile("int3");
    tell("own int3", traps);
    tell("by the kernel", codes == SI_KERNEL);
    kill(getpid(), SIGTRAP);
    tell("killed", traps);
    sigaction(SIGTRAP, NULL, &old);
    tell("told", old.sa_sigaction == on_trap && (old.sa_flags & SA_SIGINFO));
    tell("signal tells", (void *)signal(SIGTRAP, on_trap_simple) == (void *)on_trap);
    raise(SIGTRAP);
    tell("simple", traps);
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    tell("ignored", traps);
    a.sa_flags |= (int)SA_RESETHAND;
    sigaction(SIGTRAP, &a, NULL);
    raise(SIGTRAP);
    sigaction(SIGTRAP, NULL, &old);
    tell("once", traps);
    tell("reset", old.sa_handler == SIG_DFL);
}

static void masks(void)
{
    struct sigaction a = {.sa_flags = SA_SIGINFO};
    sigset_t all, old, pending;
    a.sa_sigaction = on_trap;
    sigaction(SIGTRAP, &a, NULL);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    tell("was blocked", sigismember(&old, SIGTRAP));
    tell("is blocked", blocked());
    tell("hooked works", hooked(1));
    int before = traps;
    raise(SIGTRAP);
    sigpending(&pending);
    tell("not yet", traps - before);
    tell("pending", sigismember(&pending, SIGTRAP));
    sigprocmask(SIG_SETMASK, &old, NULL);
    tell("then", traps - before);
    sigpending(&pending);
    tell("pending no more", sigismember(&pending, SIGTRAP));
    tell("free again", blocked());
}

/* Handlers that run with everything blocked, and waits with masks that block everything but SIGALRM. */
static void waits(void)
{
    struct sigaction a = {0};
    struct itimerval soon = {.it_value = {0, 20000}};
    struct timespec limit = {5, 0};
    sigset_t but;
    a.sa_handler = on_other;
    sigfillset(&a.sa_mask);
    sigaction(SIGALRM, &a, NULL);
    sigaction(SIGUSR1, &a, NULL);
    raise(SIGUSR1);
    tell("handler with a full mask", other);
    sigfillset(&but);
    sigdelset(&but, SIGALRM);
    int epoll = epoll_create1(0);
    struct epoll_event event;
    struct pollfd none = {-1, 0, 0};
    setitimer(ITIMER_REAL, &soon, NULL);
    tell("sigsuspend", sigsuspend(&but) < 0 && errno == EINTR);
    setitimer(ITIMER_REAL, &soon, NULL);
    tell("ppoll", ppoll(&none, 1, &limit, &but) < 0 && errno == EINTR);
    setitimer(ITIMER_REAL, &soon, NULL);
    tell("pselect", pselect(0, NULL, NULL, NULL, &limit, &but) < 0 && errno == EINTR);
    setitimer(ITIMER_REAL, &soon, NULL);
    tell("epoll_pwait", epoll_pwait(epoll, &event, 1, 5000, &but) < 0 && errno == EINTR);
    tell("handled", other);
    close(epoll);
}

static void jumps(void)
{
    static sigjmp_buf to;
    sigset_t all, old;
    if (sigsetjmp(to, 1) == 0) {
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, &old);
        hooked(1);
        siglongjmp(to, 1);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    tell("jumped", hooked(2));
}

static void *thread(void *unused)
{
    (void)unused;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    return (void *)(uintptr_t)(unsigned)(hooked(10) + blocked());
}

static void threads(void)
{
    pthread_attr_t attr;
    pthread_t id;
    sigset_t all;
    void *result;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setsigmask_np(&attr, &all);
    pthread_create(&id, &attr, thread, NULL);
    pthread_join(id, &result);
    tell("thread", (int)(uintptr_t)result);
    tell("this one is free", blocked());
}

static int status_of(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void children(char *program)
{
    signal(SIGTRAP, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0) {
        raise(SIGTRAP);
        _exit(3);
    }
    tell("child by default", status_of(pid));
    pid = fork();
    if (pid == 0) {
        signal(SIGTRAP, SIG_IGN); /* does not help against the instruction */
        __asm__ volatile("int3");
        _exit(3);
    }
    tell("child by int3", status_of(pid));
    pid = fork();
    if (pid == 0) {
        struct sigaction a = {.sa_flags = SA_SIGINFO};
        a.sa_sigaction = on_trap;
        sigaction(SIGTRAP, &a, NULL);
        traps = 0;
        raise(SIGTRAP);
        _exit(traps);
    }
    tell("child with a handler", status_of(pid));
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid = vfork();
    if (pid == 0) {
        hooked(1);
        execl(program, program, "blocked", (char *)NULL);
        _exit(4);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    tell("child that inherits", status_of(pid));
}

int main(int count, char **arguments)
{
    if (count > 1)
        return hooked(5) + (strcmp(arguments[1], "blocked") == 0 ? 10 : 0);
    handlers();
    masks();
    waits();
    jumps();
    threads();
    children(arguments[0]);
    return 0;
}
