/*
 * start.c - starts the runtime in the program that it is loaded into.
 *
 * The library is linked with -z initfirst, so its constructor runs before all others, which are thus hooked
 * too. libc's own has not run either, so the environment is taken from the arguments that glibc passes.
 *
 * Without FATHOM_PROBE=DIR, or if the session has ended, it does nothing. The environment is not changed:
 * programs that this one executes find the session in the same way. A vfork child (posix_spawn, system) runs
 * in its parent's memory and is handled by the depth of its calls.
 *
 * Programs that use another C library (musl) load this library too, as they honour LD_PRELOAD: glibc-only
 * functions are weak symbols, and such programs are left alone.
 */
#include "pathmap/probe/bursts.h"
#include "pathmap/probe/core.h"
#include "pathmap/probe/execs.h"
#include "pathmap/probe/images.h"
#include "pathmap/probe/leave.h"
#include "pathmap/probe/mail_client.h"
#include "pathmap/probe/notes.h"
#include "base/raw.h"
#include "pathmap/probe/real.h"
#include "pathmap/probe/trap.h"

#define WEAK __attribute__((weak))

extern WEAK const char *gnu_get_libc_version(void);
extern WEAK char **environ;
extern WEAK int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void),
                                  void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

static bool works; /* see leave.h */

bool probe_works(void)
{
    return __atomic_load_n(&works, __ATOMIC_ACQUIRE);
}

void probe_leave(void)
{
    if (!__atomic_exchange_n(&works, false, __ATOMIC_ACQ_REL))
        return;
    images_leave();
    trap_leave();
    core_leave();
}

static const char *find_session(char **environment)
{
    static const char name[] = "FATHOM_PROBE=";
    for (char **e = environment; e && *e; e++)
        if (raw_begins(*e, name))
            return *e + sizeof name - 1;
    return NULL;
}

static void fork_child(void)
{
    if (!probe_works())
        return;
    trap_fork_child();
    core_fork_child();
    bursts_fork_child();
}

static void write_error(int error)
{
    note(NOTE_STORE, error, NULL);
}

/* Whether the program can be trained; reports it if not. */
static bool may_train(const struct mail *mail)
{
    if (!gnu_get_libc_version || !__register_atfork)
        note(NOTE_LIBC, 0, NULL);
    else if (filters_count() > mail->filters)
        note(NOTE_FILTERED, 0, NULL);
    else
        return true;
    return false;
}

__attribute__((constructor)) static void start(int count, char **arguments, char **environment)
{
    static char directory[4096]; /* the program may change its environment */
    (void)count;
    (void)arguments;
    real_resolve();
    if (!gnu_get_libc_version)
        environment = &environ ? environ : NULL; /* musl gives a constructor no arguments */
    const char *session = find_session(environment);
    if (!session || session[0] != '/')
        return;
    raw_append(directory, sizeof directory, 0, session);
    struct mail *mail = mail_open(directory);
    if (!mail)
        return;
    notes_start(mail);
    if (!may_train(mail))
        return;
    core_record(&mail->recording);
    int error = core_start(directory);
    if (error) {
        write_error(-error);
        return;
    }
    if (core_is_limited())
        note(NOTE_SPACE, 0, NULL);
    core_watch(&mail->trainer);
    core_tell(write_error);
    __register_atfork(NULL, NULL, fork_child, &__dso_handle);
    trap_start();
    works = true;
    images_start(directory, mail);
    execs_start(directory, environment);
    bursts_start(mail);
}
