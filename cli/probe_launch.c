/* probe_launch.c - see probe_launch.h. */
#include "cli/probe_launch.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define LIBRARY "libfathom-probe.so"

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

/* Looks for the library in `place`, relative to the directory `up` levels above the running program's. */
static bool is_near_program(char *path, size_t size, unsigned up, const char *place)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    for (unsigned i = 0; i <= up; i++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    size_t length = strlen(path), room = size - length;
    return (size_t)snprintf(path + length, room, "/%s/" LIBRARY, place) < room && is_there(path);
}

int probe_library(char *path, size_t size, struct fathom_error *err)
{
    const char *given = getenv("FATHOM_PROBE_LIBRARY");
    if (given && *given)
        snprintf(path, size, "%s", given);
    else if (!is_near_program(path, size, 0, ".libs") &&    /* in a build directory */
             !is_near_program(path, size, 1, "lib/fathom")) /* in the installation prefix */
        snprintf(path, size, "%s/" LIBRARY, PROBE_DIRECTORY);
    if (!is_there(path))
        return error_system(
            err, errno, "cannot read the probe runtime, %s (FATHOM_PROBE_LIBRARY overrides its path)", path);
    if (path[0] != '/' || strpbrk(path, " :$"))
        return error_set(err, EINVAL,
                         "the probe runtime is at '%s': LD_PRELOAD needs an absolute path without spaces, "
                         "colons or dollar signs",
                         path);
    return 0;
}

/* This process's environment with the two variables set; the caller frees it and its first two strings. */
static char **make_environment(const char *library, const char *directory)
{
    const char *old = getenv("LD_PRELOAD");
    size_t count = 0;
    while (environ[count])
        count++;
    char **all = calloc(count + 3, sizeof *all), *preload = NULL, *probe = NULL;
    if (asprintf(&preload, "LD_PRELOAD=%s%s%s", library, old && *old ? ":" : "", old ? old : "") < 0)
        preload = NULL;
    if (asprintf(&probe, "FATHOM_PROBE=%s", directory) < 0)
        probe = NULL;
    if (!all || !preload || !probe) {
        free(all);
        free(preload);
        free(probe);
        return NULL;
    }
    size_t n = 0;
    all[n++] = preload;
    all[n++] = probe;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "FATHOM_PROBE=", 13) != 0)
            all[n++] = environ[i];
    }
    return all;
}

int probe_launch(char *const *command, const char *library, const char *directory, pid_t *pid,
                 struct fathom_error *err)
{
    char **environment = make_environment(library, directory);
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    if (!environment)
        return error_memory(err);
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* if ignored here, the command would ignore it too */
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawnp(pid, command[0], NULL, &attributes, command, environment);
    posix_spawnattr_destroy(&attributes);
    free(environment[0]);
    free(environment[1]);
    free(environment);
    if (code == ENOENT)
        return error_set(err, code, "cannot run %s: not found", text_name(command[0]));
    return code ? error_system(err, code, "cannot run %s", text_name(command[0])) : 0;
}
