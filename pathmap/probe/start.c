/*
 * start.c - where the runtime comes to life in the program that it is loaded into.
 *
 * The library is linked with -z initfirst, so its constructor runs before those of all others: they are
 * hooked too. libc's own has not run either, hence the environment is taken from the arguments that glibc
 * gives.
 *
 * Without FATHOM_PROBE=DIR, or when the session has ended, nothing at all is done. The environment is left as
 * it is: what the program executes finds its way to the session in the same manner. A vfork child
 * (posix_spawn, system) runs in its parent's memory and is sorted out by the depth of its calls.
 */
#include <pthread.h>

#include "pathmap/probe/core.h"
#include "pathmap/probe/images.h"
#include "pathmap/probe/mail_client.h"
#include "pathmap/probe/raw.h"
#include "pathmap/probe/real.h"
#include "pathmap/probe/trap.h"

static const char *find_session(char **environment)
{
    static const char name[] = "FATHOM_PROBE=";
    for (char **e = environment; e && *e; e++) {
        size_t i = 0;
        while (name[i] && (*e)[i] == name[i])
            i++;
        if (!name[i])
            return *e + i;
    }
    return NULL;
}

static void fork_child(void)
{
    trap_fork_child();
    core_fork_child();
}

__attribute__((constructor)) static void start(int count, char **arguments, char **environment)
{
    static char directory[4096]; /* the program may change its environment */
    (void)count;
    (void)arguments;
    real_resolve();
    const char *session = find_session(environment);
    if (!session || session[0] != '/')
        return;
    raw_append(directory, sizeof directory, 0, session);
    struct mail *mail = mail_open(directory);
    if (!mail || core_start(directory) != 0)
        return;
    pthread_atfork(NULL, NULL, fork_child);
    trap_start();
    images_start(directory, mail);
}
