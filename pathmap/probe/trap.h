/*
 * trap.h - SIGTRAP: the probe's own, and what the program believes of it.
 *
 * The kernel kills a process that runs into an int3 while SIGTRAP is blocked or ignored. So the handler in
 * the kernel is always ours and the signal is never blocked; what the program sets is kept beside, told to it
 * when it asks, and obeyed for every SIGTRAP that is not one of our breakpoints.
 *
 * Not in our hands: libc blocks all signals for short whiles by itself (pthread_create, posix_spawn, abort),
 * and runs only its own code meanwhile, which is not hooked by default; when it is (--image), the trainer
 * places no breakpoints in it.
 */
#ifndef FATHOM_PATHMAP_PROBE_TRAP_H
#define FATHOM_PATHMAP_PROBE_TRAP_H

#include <signal.h>
#include <stdbool.h>

/* Takes SIGTRAP. Once, by the program's first thread, before the first breakpoint is put. */
void trap_start(void);
/* Until trap_start(), and for ever without it, the program's signals are none of our business. */
bool trap_started(void);
/* The program's action for SIGTRAP, as sigaction() has it. In a vfork child (whose memory is its parent's but
 * whose actions are its own) nothing is set. */
void trap_action(const struct sigaction *action, struct sigaction *old);
/* Whether the calling thread believes that SIGTRAP is blocked. Unblocking it delivers what has come
 * meanwhile. */
bool trap_blocked(void);
void trap_block(bool blocked);
/* A SIGTRAP has come to this thread while it was blocked. */
bool trap_pending(void);
void trap_fork_child(void);
/* There are no breakpoints any more: gives SIGTRAP back to the program. */
void trap_leave(void);

/* Masks as the program gives and gets them. */
bool trap_in(const sigset_t *set);
void trap_add(sigset_t *set);
/* *copy is the set without SIGTRAP. Returns copy; NULL for NULL. */
const sigset_t *trap_without(const sigset_t *set, sigset_t *copy);

#endif
