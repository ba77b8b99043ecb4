#include "api/hooks/probe_launch.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "api/fathom/train.h"
#include "api/runtime.h"
#include "base/text.h"

int fathom_runtime_find(const char *given, char *path, size_t size, struct fathom_error *err)
{
    static const struct runtime probe = {"libfathom-probe.so", "FATHOM_PROBE_LIBRARY", "probe runtime"};
    return runtime_find(&probe, given, path, size, err);
}

int probe_launch(char *const *command, const struct probe_launch *how, pid_t *pid, struct fathom_error *err)
{
    const struct runtime_variable variables[] = {{"FATHOM_PROBE", how->directory, false},
                                                 {"LD_PRELOAD", how->library, true},
                                                 {"LD_LIBRARY_PATH", how->libraries, true}};
    char **environment = runtime_environment(variables, sizeof variables / sizeof *variables);
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
    runtime_environment_free(environment);
    if (code == ENOENT)
        return error_set(err, code, "cannot run %s: not found", text_name(command[0]));
    return code ? error_system(err, code, "cannot run %s", text_name(command[0])) : 0;
}
