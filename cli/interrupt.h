/*
 * interrupt.h - handles Ctrl-C and similar signals while Fathom waits for another program.
 *
 * Between interrupt_catch() and interrupt_restore() the signals only interrupt blocking system calls, and stop what libfathom runs.
 */
#ifndef FATHOM_CLI_INTERRUPT_H
#define FATHOM_CLI_INTERRUPT_H

#include <signal.h>

struct interrupts { /* the previous handlers */
    struct sigaction on_int, on_term, on_hup;
};

/* Defines such a function as the ones below take, of a function of libfathom. */
#define INTERRUPT_BY(name, function)                                                                         \
    static void name(void *object)                                                                           \
    {                                                                                                        \
        function(object);                                                                                    \
    }

/* Catches SIGINT, SIGTERM and SIGHUP from now on: each calls stop(object), which must be safe in a signal handler. */
void interrupt_catch(void (*stop)(void *object), void *object, struct interrupts *before);
void interrupt_restore(const struct interrupts *before);
/* Catches SIGUSR1 until the process ends, and unblocks it. A signal before interrupt_ask() takes effect then. */
void interrupt_expect(void);
/* After that: SIGUSR1 calls ask(object), which must be safe in a signal handler, until interrupt_unask(). */
void interrupt_ask(void (*ask)(void *object), void *object);
void interrupt_unask(void);

/* The same for a hooked command that libfathom starts, which inherits the previous dispositions. The order: hold, start the command,
 * begin, run, end. No signal arrives between hold and begin. stop: called by the handlers. The command's end interrupts system calls
 * too. */
struct interrupted_run {
    struct interrupts before;
    struct sigaction on_child;
    sigset_t mask;
};
void interrupt_hold(struct interrupted_run *run);
void interrupt_begin(struct interrupted_run *run, void (*stop)(void *object), void *object);
void interrupt_end(const struct interrupted_run *run);

#endif
