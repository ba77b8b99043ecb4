/*
 * actions.c - wraps the functions that set signal actions, so that SIGTRAP stays ours (trap.h) and no handler
 * runs with SIGTRAP blocked.
 */
#undef _FORTIFY_SOURCE
#include <errno.h>

#include "base/raw.h"
#include "pathmap/probe/real.h"
#include "pathmap/probe/trap.h"

int __sigaction(int sig, const struct sigaction *action, struct sigaction *old);
real_handler __sysv_signal(int sig, real_handler handler);
real_handler bsd_signal(int sig, real_handler handler);

static bool is_ours(int sig)
{
    return sig == SIGTRAP && trap_started();
}

EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    const struct real *real = real_resolve();
    if (is_ours(sig)) {
        trap_action(action, old);
        return 0;
    }
    if (!action || !trap_started())
        return real->sigaction(sig, action, old);
    struct sigaction copy;
    raw_copy(&copy, action, sizeof copy);
    trap_without(&action->sa_mask, &copy.sa_mask);
    return real->sigaction(sig, &copy, old);
}

EXPORT int __sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(sig, action, old);
}

/* Sets the handler and returns the old one. */
static real_handler set_handler(real_handler handler, int flags, bool mask)
{
    struct sigaction action = {.sa_flags = flags}, old;
    action.sa_handler = handler;
    if (mask)
        trap_add(&action.sa_mask);
    trap_action(&action, &old);
    return old.sa_handler;
}

EXPORT real_handler signal(int sig, real_handler handler)
{
    return is_ours(sig) ? set_handler(handler, SA_RESTART, true) : real_resolve()->signal(sig, handler);
}

EXPORT real_handler bsd_signal(int sig, real_handler handler)
{
    return signal(sig, handler);
}

EXPORT real_handler ssignal(int sig, real_handler handler)
{
    return signal(sig, handler);
}

EXPORT real_handler __sysv_signal(int sig, real_handler handler)
{
    if (is_ours(sig))
        return set_handler(handler, (int)SA_RESETHAND | SA_NODEFER, false);
    return real_resolve()->sysv_signal(sig, handler);
}

EXPORT real_handler sysv_signal(int sig, real_handler handler)
{
    return __sysv_signal(sig, handler);
}

EXPORT int sigignore(int sig)
{
    if (!is_ours(sig))
        return real_resolve()->sigignore(sig);
    set_handler(SIG_IGN, 0, false);
    return 0;
}

EXPORT int siginterrupt(int sig, int interrupt)
{
    if (!is_ours(sig))
        return real_resolve()->siginterrupt(sig, interrupt);
    struct sigaction action;
    trap_action(NULL, &action);
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    trap_action(&action, NULL);
    return 0;
}

EXPORT int sighold(int sig)
{
    if (!is_ours(sig))
        return real_resolve()->sighold(sig);
    trap_block(true);
    return 0;
}

EXPORT int sigrelse(int sig)
{
    if (!is_ours(sig))
        return real_resolve()->sigrelse(sig);
    trap_block(false);
    return 0;
}

EXPORT real_handler sigset(int sig, real_handler handler)
{
    if (!is_ours(sig))
        return real_resolve()->sigset(sig, handler);
    bool was = trap_blocked();
    struct sigaction old;
    trap_action(NULL, &old);
    if (handler != SIG_HOLD)
        set_handler(handler, 0, false);
    trap_block(handler == SIG_HOLD);
    return was ? SIG_HOLD : old.sa_handler;
}
