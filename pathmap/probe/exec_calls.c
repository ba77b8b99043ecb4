/*
 * exec_calls.c - wraps the functions that execute programs, to examine these programs (execs.h), and so that none
 * of our signals is pending when they are executed (outside.h). Each continues in the C library's own.
 */
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pathmap/probe/execs.h"
#include "pathmap/probe/outside.h"
#include "pathmap/probe/real.h"

/* Meanwhile bursts must not ask a thread where it is. */
#define EXECUTED(call)                                                                                       \
    outside_hold();                                                                                          \
    int executed = (call);                                                                                   \
    outside_release();                                                                                       \
    return executed

EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    execs_look(path, false, environment);
    EXECUTED(real_resolve()->execve(path, arguments, environment));
}

EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    execs_look(name, true, environment);
    EXECUTED(real_resolve()->execvpe(name, arguments, environment));
}

EXPORT int execvp(const char *name, char *const arguments[])
{
    execs_look(name, true, environ);
    EXECUTED(real_resolve()->execvp(name, arguments));
}

EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    execs_look_at(fd, environment);
    EXECUTED(real_resolve()->fexecve(fd, arguments, environment));
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[],
                       char *const environment[])
{
    execs_look(path, false, environment);
    return real_resolve()->posix_spawn(pid, path, actions, attributes, arguments, environment);
}

EXPORT int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[],
                        char *const environment[])
{
    execs_look(name, true, environment);
    return real_resolve()->posix_spawnp(pid, name, actions, attributes, arguments, environment);
}

EXPORT int system(const char *command)
{
    if (command)
        execs_look("/bin/sh", false, environ);
    return real_resolve()->system(command);
}

EXPORT FILE *popen(const char *command, const char *mode)
{
    execs_look("/bin/sh", false, environ);
    return real_resolve()->popen(command, mode);
}

/* Lists of arguments ------------------------------------------------------------------------------------- */

/* The number of arguments including the final NULL; the first has already been taken. */
static size_t list_length(va_list list)
{
    size_t n = 1;
    while (va_arg(list, char *))
        n++;
    return n + 1;
}

static void list_copy(va_list list, const char *first, char **out, size_t count)
{
    out[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i < count; i++)
        out[i] = va_arg(list, char *);
}

enum which { BY_PATH, BY_NAME, WITH_ENVIRONMENT };

/* `list` and `again` are copies; the environment follows the list. */
static int execute_list(enum which which, const char *name, const char *first, va_list list, va_list again)
{
    size_t count = first ? list_length(list) : 1;
    char **arguments = __builtin_alloca(count * sizeof *arguments); /* may run in a vfork child, so no heap */
    list_copy(again, first, arguments, count);
    switch (which) {
    case BY_PATH:
        return execv(name, arguments);
    case BY_NAME:
        return execvp(name, arguments);
    default:
        return execve(name, arguments, va_arg(again, char *const *));
    }
}

#define EXECUTE(which)                                                                                       \
    va_list list, again;                                                                                     \
    va_start(list, first);                                                                                   \
    va_start(again, first);                                                                                  \
    int result = execute_list(which, name, first, list, again);                                              \
    va_end(again);                                                                                           \
    va_end(list);                                                                                            \
    return result

EXPORT int execl(const char *name, const char *first, ...)
{
    EXECUTE(BY_PATH);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
    EXECUTE(BY_NAME);
}

EXPORT int execle(const char *name, const char *first, ...)
{
    EXECUTE(WITH_ENVIRONMENT);
}
