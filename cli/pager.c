#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct pager {
    FILE *screen; /* the original stdout */
    int pipe;     /* to the pager */
    pid_t child;
    bool began; /* something was written */
    bool quit;  /* the pager reads no more */
};

/* Ctrl-C is for the pager, and must not end the shell. Exit codes 126 and 127 mean that the pager did not run, and read nothing. */
static const char show[] = "trap : INT QUIT; eval \"$1\"; status=$?\n"
                           "[ $status = 126 ] || [ $status = 127 ] || exit $status\n"
                           "exec cat";
static const char standard[] = "if command -v less >/dev/null; then less; else cat; fi";

/* The pager's command for sh(1); NULL: none. */
static const char *chosen_pager(void)
{
    const char *own = getenv("FATHOM_PAGER"), *all = getenv("PAGER"), *term = getenv("TERM");
    const char *pager = own ? own : all ? all : standard;
    return *pager && strcmp(pager, "cat") != 0 && term && strcmp(term, "dumb") != 0 ? pager : NULL;
}

/* Called in the child: waits for output, and runs the pager. */
__attribute__((noreturn)) static void run_pager(const char *pager, int input)
{
    struct pollfd readable = {.fd = input, .events = POLLIN};
    signal(SIGINT, SIG_IGN); /* meant for a command that is being recorded */
    signal(SIGQUIT, SIG_IGN);
    while (poll(&readable, 1, -1) < 0 && errno == EINTR)
        ;
    if (!(readable.revents & POLLIN) || dup2(input, STDIN_FILENO) < 0)
        _exit(0);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    setenv("LESS", "FRX", 0);
    if (getenv("SUDO_UID")) /* a user who may run this command as root may not run others */
        setenv("LESSSECURE", "1", 0);
    execl("/bin/sh", "sh", "-c", show, "sh", pager, (char *)NULL);
    _exit(127);
}

/* A cookie_write_function_t that never fails. */
static ssize_t write_pager(void *cookie, const char *data, size_t size)
{
    struct pager *p = cookie;
    if (!p->began) {
        signal(SIGINT, SIG_IGN); /* as the pager must not be left alone with the terminal */
        signal(SIGQUIT, SIG_IGN);
        signal(SIGPIPE, SIG_IGN);
        p->began = true;
    }
    for (size_t done = 0; !p->quit && done < size;) {
        ssize_t n = write(p->pipe, data + done, size - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            p->quit = true;
    }
    return (ssize_t)size;
}

void pager_start(struct terminal *t)
{
    const char *pager = chosen_pager();
    int ends[2];
    if (t->pager || t->no_pager || !pager || !isatty(STDOUT_FILENO))
        return;
    struct pager *p = calloc(1, sizeof *p);
    if (!p || pipe2(ends, O_CLOEXEC) < 0) {
        free(p);
        return;
    }
    FILE *stream = fopencookie(p, "w", (cookie_io_functions_t){.write = write_pager});
    fflush(stdout);
    p->child = stream ? fork() : -1;
    if (p->child == 0) {
        close(ends[1]);
        run_pager(pager, ends[0]);
    }
    close(ends[0]);
    if (p->child < 0) { /* go on without a pager */
        if (stream)
            fclose(stream);
        close(ends[1]);
        free(p);
        return;
    }
    p->pipe = ends[1];
    p->screen = stdout;
    stdout = stream;
    t->pager = p;
}

void pager_end(struct terminal *t)
{
    struct pager *p = t->pager;
    if (!p)
        return;
    fclose(stdout);
    stdout = p->screen;
    close(p->pipe);
    while (waitpid(p->child, NULL, 0) < 0 && errno == EINTR)
        ;
    free(p);
    t->pager = NULL;
}
