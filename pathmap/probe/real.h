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

struct real {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    real_handler (*signal)(int, real_handler);
    real_handler (*sysv_signal)(int, real_handler);
    real_handler (*sigset)(int, real_handler);
    int (*sighold)(int);
    int (*sigrelse)(int);
    int (*sigignore)(int);
    int (*siginterrupt)(int, int);
    int (*sigprocmask)(int, const sigset_t *, sigset_t *);
    int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
    int (*pthread_attr_setsigmask_np)(pthread_attr_t *, const sigset_t *);
    int (*sigblock)(int);
    int (*sigsetmask)(int);
    int (*sigpending)(sigset_t *);
    int (*sigsuspend)(const sigset_t *);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    int (*sigaltstack)(const stack_t *, stack_t *);
    void (*makecontext)(void);
    int (*prctl)(int, ...);
    void (*syscall)(void);
    int (*execve)(const char *, char *const *, char *const *);
    int (*execvp)(const char *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    real_spawn posix_spawn, posix_spawnp;
    int (*system)(const char *);
    FILE *(*popen)(const char *, const char *);
};

/* The table; a function that the program's libc lacks is NULL, and is then never called. */
const struct real *real_resolve(void);

#endif
