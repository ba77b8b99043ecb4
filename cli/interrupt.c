/* interrupt.c - see interrupt.h. */
#include "cli/interrupt.h"

/* Global, since a signal handler gets no context. */
static volatile sig_atomic_t interrupts;

static void on_signal(int signal)
{
    (void)signal;
    interrupts = interrupts + 1;
}

void interrupt_catch(struct interrupts *before)
{
    struct sigaction action = {.sa_handler = on_signal};
    interrupts = 0;
    sigaction(SIGINT, &action, &before->on_int);
    sigaction(SIGTERM, &action, &before->on_term);
    sigaction(SIGHUP, &action, &before->on_hup);
}

unsigned interrupt_count(void)
{
    return (unsigned)interrupts;
}

void interrupt_restore(const struct interrupts *before)
{
    sigaction(SIGINT, &before->on_int, NULL);
    sigaction(SIGTERM, &before->on_term, NULL);
    sigaction(SIGHUP, &before->on_hup, NULL);
}
