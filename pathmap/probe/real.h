/*
 * real.h - the functions that the runtime wraps, as the program would have called them.
 *
 * Resolved by dlsym(RTLD_NEXT) in the constructor. A library whose constructor runs before ours may call one
 * earlier: users of the table call real_resolve() first, which usually costs one comparison.
 */
#ifndef FATHOM_PATHMAP_PROBE_REAL_H
#define FATHOM_PATHMAP_PROBE_REAL_H

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

typedef void (*real_handler)(int);
typedef int (*real_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                          const posix_spawnattr_t *, char *const *, char *const *);

/* REAL(member, name in libc, type) of each. */
#define REAL_FUNCTIONS(REAL)                                                                                 \
    REAL(sigaction, "sigaction", int (*)(int, const struct sigaction *, struct sigaction *))                 \
    REAL(signal, "signal", real_handler (*)(int, real_handler))                                              \
    REAL(sysv_signal, "__sysv_signal", real_handler (*)(int, real_handler))                                  \
    REAL(sigset, "sigset", real_handler (*)(int, real_handler))                                              \
    REAL(sighold, "sighold", int (*)(int))                                                                   \
    REAL(sigrelse, "sigrelse", int (*)(int))                                                                 \
    REAL(sigignore, "sigignore", int (*)(int))                                                               \
    REAL(siginterrupt, "siginterrupt", int (*)(int, int))                                                    \
    REAL(sigprocmask, "sigprocmask", int (*)(int, const sigset_t *, sigset_t *))                             \
    REAL(pthread_sigmask, "pthread_sigmask", int (*)(int, const sigset_t *, sigset_t *))                     \
    REAL(pthread_attr_setsigmask_np, "pthread_attr_setsigmask_np",                                           \
         int (*)(pthread_attr_t *, const sigset_t *))                                                        \
    REAL(sigblock, "sigblock", int (*)(int))                                                                 \
    REAL(sigsetmask, "sigsetmask", int (*)(int))                                                             \
    REAL(sigpending, "sigpending", int (*)(sigset_t *))                                                      \
    REAL(sigsuspend, "sigsuspend", int (*)(const sigset_t *))                                                \
    REAL(ppoll, "ppoll", int (*)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))        \
    REAL(ppoll_chk, "__ppoll_chk",                                                                           \
         int (*)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t))                \
    REAL(pselect, "pselect",                                                                                 \
         int (*)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))              \
    REAL(epoll_pwait, "epoll_pwait", int (*)(int, struct epoll_event *, int, int, const sigset_t *))         \
    REAL(epoll_pwait2, "epoll_pwait2",                                                                       \
         int (*)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *))                 \
    REAL(sigaltstack, "sigaltstack", int (*)(const stack_t *, stack_t *))                                    \
    REAL(makecontext, "makecontext", void (*)(void))                                                         \
    REAL(prctl, "prctl", int (*)(int, ...))                                                                  \
    REAL(syscall, "syscall", void (*)(void))                                                                 \
    REAL(execve, "execve", int (*)(const char *, char *const *, char *const *))                              \
    REAL(execvp, "execvp", int (*)(const char *, char *const *))                                             \
    REAL(execvpe, "execvpe", int (*)(const char *, char *const *, char *const *))                            \
    REAL(fexecve, "fexecve", int (*)(int, char *const *, char *const *))                                     \
    REAL(posix_spawn, "posix_spawn", real_spawn)                                                             \
    REAL(posix_spawnp, "posix_spawnp", real_spawn)                                                           \
    REAL(system, "system", int (*)(const char *))                                                            \
    REAL(popen, "popen", FILE *(*)(const char *, const char *))

#define REAL_MEMBER(member, name, type) __typeof__(type) member;
struct real {
    REAL_FUNCTIONS(REAL_MEMBER)
};

#define EXPORT __attribute__((visibility("default"))) /* of the wrappers */

/* The table; a function that the program's libc lacks is NULL, and is then never called. */
const struct real *real_resolve(void);

#endif
