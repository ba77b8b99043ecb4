/*
 * trap.h - SIGTRAP: the probe's use of it, and the program's view.
 *
 * The kernel kills a process that hits an int3 while SIGTRAP is blocked or ignored. So the handler in the
 * kernel is always ours and the signal is never blocked; the program's settings are stored, returned to it on
 * request, and obeyed for every SIGTRAP that is not one of our breakpoints.
 *
 * An exception: libc itself briefly blocks all signals (pthread_create, posix_spawn, abort), but then runs
 * only its own code, which is not hooked by default; if it is (--image), the trainer places no breakpoints in
 * it.
 */
#ifndef FATHOM_PATHMAP_PROBE_TRAP_H
#define FATHOM_PATHMAP_PROBE_TRAP_H

#include <signal.h>
#include <stdbool.h>

/* The kernel's struct sigaction, and its SA_RESTORER, which libc's headers lack. */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};
#define SA_RESTORE 0x04000000ul

/* For handlers of our own: what returns from them (sa_restorer). */
extern void trap_restorer(void) __attribute__((visibility("hidden")));

/* Takes over SIGTRAP. Call once, from the program's first thread, before the first breakpoint is set. */
void trap_start(void);
/* Whether trap_start() was called; without it, the program's signals are not touched. */
bool trap_started(void);
/* The program's action for SIGTRAP, as sigaction() has it. In a vfork child (whose memory is its parent's but
 * whose actions are its own) nothing is set. */
void trap_action(const struct sigaction *action, struct sigaction *old);
/* Whether the calling thread believes that SIGTRAP is blocked. Unblocking it delivers what arrived meanwhile.
 */
bool trap_blocked(void);
void trap_block(bool blocked);
/* Whether a SIGTRAP arrived at this thread while it was blocked. */
bool trap_pending(void);
void trap_fork_child(void);
/* After the last breakpoint: gives SIGTRAP back to the program. */
void trap_leave(void);

/* Masks as the program passes and gets them. */
bool trap_in(const sigset_t *set);
void trap_add(sigset_t *set);
/* *copy is the set without SIGTRAP. Returns copy; NULL for NULL. */
const sigset_t *trap_without(const sigset_t *set, sigset_t *copy);

#endif
