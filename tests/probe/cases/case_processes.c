/* case_processes.c - processes that start processes, and the ways in which a process ends. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probe/cases/cases.h"

KNOWN void leaf(void)
{
    CALLED();
}

KNOWN int await(pid_t pid)
{
    int status = -1;
    CALLED();
    return waitpid(pid, &status, 0) != pid || status;
}

/* Copies
 * ----------------------------------------------------------------------------------------------------- */

KNOWN void before(void)
{
    leaf();
    CALLED();
}

KNOWN void grandchild(void)
{
    leaf();
    witness();
    CALLED();
}

KNOWN int child(void)
{
    for (int i = 0; i < 3; i++)
        leaf();
    pid_t pid = fork();
    if (pid == 0) {
        grandchild();
        _exit(0);
    }
    int bad = await(pid);
    CALLED();
    return bad;
}

int run_fork(const char *argument)
{
    (void)argument;
    before();
    pid_t pid = fork();
    if (pid == 0) {
        int status = child();
        CALLED();
        return status; /* by way of main(), exit() and what it calls */
    }
    int bad = await(pid);
    before();
    return bad;
}

KNOWN void in_vfork(void)
{
    leaf();
    CALLED();
}

int run_vfork(const char *argument)
{
    (void)argument;
    for (volatile int i = 0; i < 2; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            in_vfork();
            _exit(0);
        }
        if (await(pid))
            return 1;
    }
    before();
    return 0;
}

/* Executed anew
 * ---------------------------------------------------------------------------------------------- */

KNOWN int anew(const char *name)
{
    leaf();
    execl("/proc/self/exe", "case_processes", name, (char *)NULL);
    return 1;
}

int run_fresh(const char *argument)
{
    (void)argument;
    before();
    witness();
    return 0;
}

int run_exec(const char *argument)
{
    (void)argument;
    before();
    int status = anew("fresh");
    CALLED();
    return status;
}

int run_vfork_exec(const char *argument)
{
    (void)argument;
    pid_t pid = vfork();
    if (pid == 0) {
        anew("fresh");
        _exit(9);
    }
    int bad = await(pid);
    before();
    return bad;
}

int run_spawn(const char *argument)
{
    (void)argument;
    pid_t pid;
    char *arguments[] = {"case_processes", "fresh", NULL};
    before();
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ) || await(pid))
        return 1;
    int status = system("exit 3");
    before();
    return WEXITSTATUS(status) != 3;
}

/* Ends
 * ------------------------------------------------------------------------------------------------------- */

KNOWN void end(int how)
{
    leaf();
    switch (how) {
    case 'e':
        exit(7);
    case 'q':
        _exit(8);
    case 'a':
        abort();
    case 'k':
        kill(getpid(), SIGKILL);
        pause();
    }
    CALLED();
}

KNOWN void deeper(int depth, int how)
{
    if (depth)
        deeper(depth - 1, how);
    else
        end(how);
    CALLED();
}

KNOWN void at_end(void)
{
    leaf();
    CALLED();
}

int run_exit(const char *argument)
{
    (void)argument;
    atexit(at_end);
    deeper(1, 'e');
    return 1;
}

int run_return(const char *argument)
{
    (void)argument;
    atexit(at_end);
    deeper(1, 0);
    return 0;
}

int run_quit(const char *argument)
{
    (void)argument;
    atexit(at_end);
    deeper(1, 'q');
    return 1;
}

KNOWN void on_abort(int signal)
{
    leaf();
    (void)signal;
    CALLED();
}

int run_abort(const char *argument)
{
    (void)argument;
    signal(SIGABRT, on_abort);
    deeper(1, 'a');
    return 1;
}

int run_kill(const char *argument)
{
    (void)argument;
    deeper(1, 'k');
    return 1;
}

/* Killed while another thread makes calls, as fast as it can. */
static atomic_ulong rounds;

KNOWN void *busy(void *unused)
{
    for (;;) {
        before();
        rounds++;
    }
    return unused;
}

int run_kill_busy(const char *argument)
{
    (void)argument;
    pthread_t id;
    if (pthread_create(&id, NULL, busy, NULL))
        return 1;
    while (rounds < 100000)
        usleep(1000);
    end('k');
    return 1;
}

const struct known_case cases[] = {
    {"fork", run_fork},
    {"vfork", run_vfork},
    {"fresh", run_fresh},
    {"exec", run_exec},
    {"vfork-exec", run_vfork_exec},
    {"spawn", run_spawn},
    {"exit", run_exit},
    {"return", run_return},
    {"quit", run_quit},
    {"abort", run_abort},
    {"kill", run_kill},
    {"kill-busy", run_kill_busy},
    {0},
};
