#include "api/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Location -------------------------------------------------------------------------------------------------- */

static const char here[] = "";

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

/* Finds the file that contains this code: the shared library, or the program. */
static bool find_self(char path[PATH_MAX], bool *program)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    *program = !map->l_name[0];
    return realpath(*program ? "/proc/self/exe" : map->l_name, path);
}

/* Makes a path: the directory `up` levels above that of the file `self`, then `relative`, then the name. Returns whether it exists. */
static bool is_near(const char *self, unsigned up, const char *relative, const char *name, char *path,
                    size_t size)
{
    size_t length = strlen(self);
    for (unsigned i = 0; i <= up; i++) {
        while (length && self[length - 1] != '/')
            length--;
        if (!length)
            return false;
        length--;
    }
    return (size_t)snprintf(path, size, "%.*s/%s%s", (int)length, self, relative, name) < size &&
           is_there(path);
}

/* Searches the installed tree, which may have been moved: follows the relative path from the program's directory to that of the runtimes. */
static bool is_installed(const char *self, const char *name, char *path, size_t size)
{
    static const char from[] = PROGRAM_DIRECTORY "/", to[] = PROBE_DIRECTORY "/";
    size_t common = 0;
    unsigned up = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/')
            common = i + 1;
    for (size_t i = common; from[i]; i++)
        up += from[i] == '/';
    return is_near(self, up, to + common, name, path, size);
}

/* Searches next to a program in a build directory, or next to a library there (which is in .libs), or where they are installed. */
static bool find_near(const char *name, char *path, size_t size)
{
    char self[PATH_MAX];
    bool program;
    if (!find_self(self, &program))
        return false;
    return program ? is_near(self, 0, ".libs/", name, path, size) || is_installed(self, name, path, size)
                   : is_near(self, 0, "", name, path, size) || is_near(self, 0, "fathom/", name, path, size);
}

int runtime_find(const struct runtime *runtime, const char *given, char *path, size_t size,
                 struct fathom_error *err)
{
    if (given && *given)
        snprintf(path, size, "%s", given);
    else if (!find_near(runtime->library, path, size))
        snprintf(path, size, "%s/%s", PROBE_DIRECTORY, runtime->library);
    if (!is_there(path) && !getauxval(AT_BASE)) /* no dynamic loader brought this program */
        return error_set(err, ENOENT,
                         "the %s is a shared library, which the static fathom does not have: take an "
                         "installed one, or set %s to the path of %s",
                         runtime->what, runtime->variable, runtime->library);
    if (!is_there(path))
        return error_system(err, errno, "cannot read the %s, %s (%s overrides its path)", runtime->what, path,
                            runtime->variable);
    if (path[0] != '/' || strpbrk(path, " :$"))
        return error_set(
            err, EINVAL,
            "the %s is at '%s': LD_PRELOAD needs an absolute path without spaces, colons or dollar signs",
            runtime->what, path);
    return 0;
}

/* The environment ---------------------------------------------------------------------------------------------- */

static bool is_set(const struct runtime_variable *variables, size_t count, const char *entry)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(variables[i].name);
        if (variables[i].value && strncmp(entry, variables[i].name, length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

static char *make_entry(const struct runtime_variable *v)
{
    const char *old = v->list ? getenv(v->name) : NULL;
    char *entry;
    return asprintf(&entry, "%s=%s%s%s", v->name, v->value, old && *old ? ":" : "", old ? old : "") < 0
               ? NULL
               : entry;
}

char **runtime_environment(const struct runtime_variable *variables, size_t count)
{
    size_t old = 0, n = 0;
    while (environ[old])
        old++;
    char **all = calloc(old + count + 1, sizeof *all);
    bool ok = all;
    for (size_t i = 0; ok && i < count; i++)
        if (variables[i].value)
            ok = (all[n++] = make_entry(&variables[i])) != NULL;
    for (size_t i = 0; ok && i < old; i++)
        if (!is_set(variables, count, environ[i]))
            ok = (all[n++] = strdup(environ[i])) != NULL;
    if (ok)
        return all;
    runtime_environment_free(all);
    return NULL;
}

void runtime_environment_free(char **environment)
{
    for (size_t i = 0; environment && environment[i]; i++)
        free(environment[i]);
    free(environment);
}
