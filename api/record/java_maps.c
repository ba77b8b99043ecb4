#include "api/record/java_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

struct java_maps {
    pid_t child;
    int socket; /* to the child: takes PIDs, answers each with a byte: whether it succeeded */
};

/* Another user's program gets nothing from root's environment except where to find Java. */
static bool bare_environment(void)
{
    static const char *const names[] = {"PATH", "JAVA_HOME"};
    char *kept[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++)
        if (getenv(names[i]) && !(kept[i] = strdup(getenv(names[i]))))
            return false;
    if (clearenv() != 0)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (kept[i] && setenv(names[i], kept[i], 1) != 0)
            return false;
    return true;
}

/* Changes to the effective user of a process, who owns its /proc directory. */
static bool become_user(uint32_t pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    if (stat(path, &st) != 0)
        return false;
    return geteuid() != 0 || ((st.st_uid == 0 || bare_environment()) && setgroups(0, NULL) == 0 &&
                              setresgid(st.st_gid, st.st_gid, st.st_gid) == 0 &&
                              setresuid(st.st_uid, st.st_uid, st.st_uid) == 0);
}

/* The other user fully controls the program, so it gets no other files and no terminal. */
static _Noreturn void run_jcmd(uint32_t pid)
{
    char number[16];
    char *words[] = {(char[]){"jcmd"}, number, (char[]){"Compiler.perfmap"}, NULL};
    const int null = open("/dev/null", O_RDWR);
    snprintf(number, sizeof number, "%" PRIu32, pid);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2 && chdir("/") == 0 &&
        setsid() > 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && become_user(pid) &&
        syscall(SYS_close_range, 3, ~0u, 0) == 0)
        execvp(words[0], words);
    _exit(127);
}

/* Waits for a child. If it does not end in time, it is killed with all that it started: it may be stopped, and would never end. */
static bool wait_for_child(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    const uint64_t end = clock_ns() + JAVA_MAPS_SECONDS * UINT64_C(1000000000);
    siginfo_t ended = {0};
    int status;
    while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && !ended.si_pid &&
           clock_ns() < end)
        nanosleep(&pause, NULL);
    kill(-child, SIGKILL); /* its whole session */
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool ask_process(uint32_t pid)
{
    const pid_t child = fork();
    if (child == 0)
        run_jcmd(pid);
    return child > 0 && wait_for_child(child);
}

/* The child's main loop, until the recorder closes its end. Signals to both are meant for the recorder. */
static _Noreturn void serve_requests(int socket)
{
    uint32_t pid;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    while (recv(socket, &pid, sizeof pid, 0) == sizeof pid) {
        const uint8_t done = ask_process(pid);
        if (send(socket, &done, sizeof done, 0) != sizeof done)
            break;
    }
    _exit(0);
}

int java_maps_new(struct java_maps **out, struct fathom_error *err)
{
    int ends[2];
    struct java_maps *m = calloc(1, sizeof *m);
    if (!m)
        return error_memory(err);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        free(m);
        return error_system(err, errno, "cannot start what asks Java for its maps");
    }
    m->child = fork();
    if (m->child == 0) {
        close(ends[0]);
        serve_requests(ends[1]);
    }
    close(ends[1]);
    m->socket = ends[0];
    if (m->child < 0) {
        const int rc = error_system(err, errno, "cannot start what asks Java for its maps");
        close(m->socket);
        free(m);
        return rc;
    }
    *out = m;
    return 0;
}

void java_maps_free(struct java_maps *m)
{
    if (!m)
        return;
    close(m->socket);
    while (waitpid(m->child, NULL, 0) < 0 && errno == EINTR)
        ;
    free(m);
}

bool java_maps_ask(struct java_maps *m, uint32_t pid)
{
    uint8_t done = 0;
    ssize_t got = send(m->socket, &pid, sizeof pid, MSG_NOSIGNAL);
    while (got == sizeof pid && (got = recv(m->socket, &done, sizeof done, 0)) < 0 && errno == EINTR)
        got = sizeof pid;
    return got == sizeof done && done;
}
