#include "api/train/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARIES_MAX 4096

/* "	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)": the path, NUL-terminated in place. */
static char *path_in(char *line)
{
    char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL;
    char *arrow = strstr(line, " => ");
    if (arrow && path && path < arrow) {
        path = arrow + 4;
        end = strstr(path, " (0x");
    }
    if (!end || path[0] != '/')
        return NULL;
    *end = '\0';
    return path;
}

static int read_list(FILE *from, char ***paths, size_t *count)
{
    char *line = NULL;
    size_t capacity = 0;
    int rc = 0;
    while (rc == 0 && *count < LIBRARIES_MAX && getline(&line, &capacity, from) > 0) {
        const char *path = path_in(line);
        if (!path)
            continue;
        char *copy = strdup(path), **more = realloc(*paths, (*count + 1) * sizeof *more);
        if (more)
            *paths = more;
        if (copy && more) {
            (*paths)[(*count)++] = copy;
        } else {
            free(copy);
            rc = -ENOMEM;
        }
    }
    free(line);
    return rc;
}

static int spawn_loader(const char *loader, const char *program, int out, pid_t *pid)
{
    char *argv[] = {(char *)(uintptr_t)loader, (char *)(uintptr_t) "--list", (char *)(uintptr_t)program,
                    NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int code = posix_spawn(pid, loader, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

int libraries_list(const char *loader, const char *program, char ***paths, size_t *count,
                   struct fathom_error *err)
{
    int ends[2], status = 0;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_system(err, errno, "cannot make a pipe");
    int rc = spawn_loader(loader, program, ends[1], &pid);
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        return error_system(err, -rc, "cannot run %s, the loader of %s", loader, program);
    }
    *paths = NULL;
    *count = 0;
    FILE *from = fdopen(ends[0], "r");
    if (from) {
        rc = read_list(from, paths, count);
        fclose(from);
    } else {
        rc = -ENOMEM;
        close(ends[0]);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (rc == 0 && status == 0)
        return 0;
    for (size_t i = 0; i < *count; i++)
        free((*paths)[i]);
    free(*paths);
    return rc < 0 ? error_memory(err)
                  : error_set(err, ENOEXEC, "%s cannot list the libraries that %s needs", loader, program);
}
