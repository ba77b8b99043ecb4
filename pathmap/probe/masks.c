/*
 * masks.c - wraps the functions that change or wait with a signal mask, so that SIGTRAP is never blocked in
 * the kernel (trap.h). The program sees the mask that it set.
 *
 * siglongjmp() and setcontext() restore masks that were read from the kernel, which never contain SIGTRAP.
 */
#undef _FORTIFY_SOURCE
#include <pthread.h>

#include "pathmap/probe/real.h"
#include "pathmap/probe/trap.h"

#define OLD_MASK (1u << (SIGTRAP - 1)) /* in the masks of sigblock() and similar functions */

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask,
                size_t size);
int __sigsuspend(const sigset_t *mask);

/* Updates the mask as seen by the thread. in: the call's set contains SIGTRAP. */
static void note_mask(int how, bool in)
{
    if (how == SIG_SETMASK)
        trap_block(in);
    else if (in)
        trap_block(how == SIG_BLOCK);
}

static int change_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old)
{
    if (!trap_started())
        return real(how, set, old);
    sigset_t copy;
    bool in = set && trap_in(set), was = trap_blocked();
    int result = real(how, trap_without(set, &copy), old);
    if (result != 0)
        return result;
    if (old && was)
        trap_add(old);
    if (set)
        note_mask(how, in);
    return 0;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(real_resolve()->sigprocmask, how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(real_resolve()->pthread_sigmask, how, set, old);
}

/* A mask for a wait or a new thread, without SIGTRAP. */
static const sigset_t *without_trap(const sigset_t *mask, sigset_t *copy)
{
    return trap_started() ? trap_without(mask, copy) : mask;
}

EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attr, const sigset_t *mask)
{
    sigset_t copy;
    return real_resolve()->pthread_attr_setsigmask_np(attr, without_trap(mask, &copy));
}

/* Changes one of BSD's 32-bit masks. */
static int change_old(int (*real)(int), int how, int mask)
{
    if (!trap_started())
        return real(mask);
    unsigned bits = (unsigned)mask, was = trap_blocked() ? OLD_MASK : 0;
    unsigned old = (unsigned)real((int)(bits & ~OLD_MASK)) | was;
    note_mask(how, bits & OLD_MASK);
    return (int)old;
}

EXPORT int sigblock(int mask)
{
    return change_old(real_resolve()->sigblock, SIG_BLOCK, mask);
}

EXPORT int sigsetmask(int mask)
{
    return change_old(real_resolve()->sigsetmask, SIG_SETMASK, mask);
}

EXPORT int sigpending(sigset_t *set)
{
    int result = real_resolve()->sigpending(set);
    if (result == 0 && trap_pending())
        trap_add(set);
    return result;
}

/* Waits: each is a cancellation point, and unwinding passes through these frames. ------------------------ */

EXPORT int sigsuspend(const sigset_t *mask)
{
    sigset_t copy;
    return real_resolve()->sigsuspend(without_trap(mask, &copy));
}

EXPORT int __sigsuspend(const sigset_t *mask)
{
    return sigsuspend(mask);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
    sigset_t copy;
    return real_resolve()->ppoll(fds, count, limit, without_trap(mask, &copy));
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask,
                       size_t size)
{
    sigset_t copy;
    return real_resolve()->ppoll_chk(fds, count, limit, without_trap(mask, &copy), size);
}

EXPORT int pselect(int count, fd_set *in, fd_set *out, fd_set *error, const struct timespec *limit,
                   const sigset_t *mask)
{
    sigset_t copy;
    return real_resolve()->pselect(count, in, out, error, limit, without_trap(mask, &copy));
}

EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int count, int limit, const sigset_t *mask)
{
    sigset_t copy;
    return real_resolve()->epoll_pwait(epoll, events, count, limit, without_trap(mask, &copy));
}

EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *limit,
                        const sigset_t *mask)
{
    sigset_t copy;
    return real_resolve()->epoll_pwait2(epoll, events, count, limit, without_trap(mask, &copy));
}
