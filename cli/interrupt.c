/* interrupt.c - see interrupt.h. */
#include "cli/interrupt.h"

/* Global, since a signal handler gets no context. */
static volatile sig_atomic_t interrupts;
static void (*stop)(void *object);
static void *stopped;

static void on_signal(int signal)
{
    (void)signal;
    interrupts = interrupts + 1;
    if (stop)
        stop(stopped);
}

void interrupt_catch(struct interrupts *before)
{
    interrupt_catch_for(NULL, NULL, before);
}

void interrupt_catch_for(void (*stop_it)(void *object), void *object, struct interrupts *before)
{
    struct sigaction action = {.sa_handler = on_signal};
    interrupts = 0;
    stop = stop_it;
    stopped = object;
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
