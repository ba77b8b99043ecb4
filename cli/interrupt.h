/*
 * interrupt.h - Ctrl-C and its like while a command of ours waits for another program.
 *
 * The signals are caught between interrupt_catch() and interrupt_restore(), end system calls that wait, and
 * are counted; nothing else is done by the handler.
 */
#ifndef FATHOM_CLI_INTERRUPT_H
#define FATHOM_CLI_INTERRUPT_H

#include <signal.h>

struct interrupts { /* what was set before */
    struct sigaction on_int, on_term, on_hup;
};

/* SIGINT, SIGTERM and SIGHUP from now on; the count begins at 0. */
void interrupt_catch(struct interrupts *before);
unsigned interrupt_count(void);
void interrupt_restore(const struct interrupts *before);

#endif
