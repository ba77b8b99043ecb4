/*
 * real.c - see real.h.
 */
#include "pathmap/probe/real.h"

#include <dlfcn.h>
#include <stdbool.h>

static struct real table;
static bool resolved;

#define RESOLVE(field, name) *(void **)&table.field = dlsym(RTLD_NEXT, name)

const struct real *real_resolve(void)
{
    if (__atomic_load_n(&resolved, __ATOMIC_ACQUIRE))
        return &table;
    RESOLVE(sigaction, "sigaction");
    RESOLVE(signal, "signal");
    RESOLVE(sysv_signal, "__sysv_signal");
    RESOLVE(sigset, "sigset");
    RESOLVE(sighold, "sighold");
    RESOLVE(sigrelse, "sigrelse");
    RESOLVE(sigignore, "sigignore");
    RESOLVE(siginterrupt, "siginterrupt");
    RESOLVE(sigprocmask, "sigprocmask");
    RESOLVE(pthread_sigmask, "pthread_sigmask");
    RESOLVE(pthread_attr_setsigmask_np, "pthread_attr_setsigmask_np");
    RESOLVE(sigblock, "sigblock");
    RESOLVE(sigsetmask, "sigsetmask");
    RESOLVE(sigpending, "sigpending");
    RESOLVE(sigsuspend, "sigsuspend");
    RESOLVE(ppoll, "ppoll");
    RESOLVE(ppoll_chk, "__ppoll_chk");
    RESOLVE(pselect, "pselect");
    RESOLVE(epoll_pwait, "epoll_pwait");
    RESOLVE(epoll_pwait2, "epoll_pwait2");
    RESOLVE(sigaltstack, "sigaltstack");
    RESOLVE(makecontext, "makecontext");
    RESOLVE(prctl, "prctl");
    RESOLVE(syscall, "syscall");
    RESOLVE(execve, "execve");
    RESOLVE(execvp, "execvp");
    RESOLVE(execvpe, "execvpe");
    RESOLVE(fexecve, "fexecve");
    RESOLVE(posix_spawn, "posix_spawn");
    RESOLVE(posix_spawnp, "posix_spawnp");
    RESOLVE(system, "system");
    RESOLVE(popen, "popen");
    __atomic_store_n(&resolved, true, __ATOMIC_RELEASE);
    return &table;
}
