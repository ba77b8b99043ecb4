/* probe_launch.c - see probe_launch.h. */
#include "api/hooks/probe_launch.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/fathom/train.h"
#include "base/text.h"

#define LIBRARY   "libfathom-probe.so"
#define VARIABLES 3

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

static const char here[] = LIBRARY;

/* The file that has this code: the shared library, or the program. */
static bool find_self(char path[PATH_MAX], bool *program)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    *program = !map->l_name[0];
    return realpath(*program ? "/proc/self/exe" : map->l_name, path);
}

/* Looks for the library in `place`, relative to the directory `up` levels above that file's. */
static bool is_near(const char *self, char *path, size_t size, unsigned up, const char *place)
{
    size_t length = strlen(self);
    for (unsigned i = 0; i <= up; i++) {
        while (length && self[length - 1] != '/')
            length--;
        if (!length)
            return false;
        length--;
    }
    return (size_t)snprintf(path, size, "%.*s/%s" LIBRARY, (int)length, self, place) < size && is_there(path);
}

static bool find_near(char *path, size_t size)
{
    char self[PATH_MAX];
    bool program;
    if (!find_self(self, &program))
        return false;
    if (program) /* in a build directory, or in the installation prefix */
        return is_near(self, path, size, 0, ".libs/") || is_near(self, path, size, 1, "lib/fathom/");
    return is_near(self, path, size, 0, "") || is_near(self, path, size, 0, "fathom/");
}

int fathom_runtime_find(const char *given, char *path, size_t size, struct fathom_error *err)
{
    if (given && *given)
        snprintf(path, size, "%s", given);
    else if (!find_near(path, size))
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

/* This process's environment with those of the launch set, which the caller frees, too; NULL: out of memory. */
static char **make_environment(const struct probe_launch *how, char *own[VARIABLES])
{
    static const char *const names[VARIABLES] = {"FATHOM_PROBE", "LD_PRELOAD", "LD_LIBRARY_PATH"};
    const char *values[VARIABLES] = {how->directory, how->library, how->libraries};
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    char **all = calloc(count + VARIABLES + 1, sizeof *all);
    for (size_t i = 0; all && i < VARIABLES; i++) {
        const char *old = i ? getenv(names[i]) : NULL; /* lists are added to */
        if (!values[i])
            continue;
        if (asprintf(&own[i], "%s=%s%s%s", names[i], values[i], old && *old ? ":" : "", old ? old : "") < 0) {
            own[i] = NULL;
            free(all);
            return NULL;
        }
        all[n++] = own[i];
    }
    for (size_t i = 0; all && i < count; i++) {
        bool is_set = false;
        for (size_t v = 0; v < VARIABLES; v++)
            is_set |= own[v] && strncmp(environ[i], own[v], strlen(names[v]) + 1) == 0;
        if (!is_set)
            all[n++] = environ[i];
    }
    return all;
}

int probe_launch(char *const *command, const struct probe_launch *how, pid_t *pid, struct fathom_error *err)
{
    char *own[VARIABLES] = {0}, **environment = make_environment(how, own);
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    int code = environment ? 0 : ENOMEM;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* if ignored here, the command would ignore it too */
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (environment)
        code = posix_spawnp(pid, command[0], NULL, &attributes, command, environment);
    posix_spawnattr_destroy(&attributes);
    for (size_t i = 0; i < VARIABLES; i++)
        free(own[i]);
    free(environment);
    if (code == ENOENT)
        return error_set(err, code, "cannot run %s: not found", text_name(command[0]));
    return code ? error_system(err, code, "cannot run %s", text_name(command[0])) : 0;
}
