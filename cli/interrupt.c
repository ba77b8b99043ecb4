#include "cli/interrupt.h"

/* Global, since a signal handler gets no context. */
static void (*stop)(void *object);
static void *stopped;

static void (*volatile ask)(void *object); /* NULL: no recording to ask yet */
static void *asked;
static volatile sig_atomic_t asked_early;

static void on_request(int signal)
{
    void (*to)(void *object) = ask;
    (void)signal;
    if (to)
        to(asked);
    else
        asked_early = 1;
}

void interrupt_expect(void)
{
    struct sigaction action = {.sa_handler = on_request, .sa_flags = SA_RESTART};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void interrupt_ask(void (*ask_it)(void *object), void *object)
{
    asked = object;
    ask = ask_it;
    if (asked_early)
        ask_it(object);
}

void interrupt_unask(void)
{
    ask = NULL;
}

static void on_signal(int signal)
{
    (void)signal;
    stop(stopped);
}

/* With a handler, a child's end interrupts the wait for its requests. */
static void on_child(int signal)
{
    (void)signal;
}

void interrupt_catch(void (*stop_it)(void *object), void *object, struct interrupts *before)
{
    struct sigaction action = {.sa_handler = on_signal};
    stop = stop_it;
    stopped = object;
    sigaction(SIGINT, &action, &before->on_int);
    sigaction(SIGTERM, &action, &before->on_term);
    sigaction(SIGHUP, &action, &before->on_hup);
}

void interrupt_restore(const struct interrupts *before)
{
    sigaction(SIGINT, &before->on_int, NULL);
    sigaction(SIGTERM, &before->on_term, NULL);
    sigaction(SIGHUP, &before->on_hup, NULL);
}

void interrupt_hold(struct interrupted_run *run)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &run->mask);
}

void interrupt_begin(struct interrupted_run *run, void (*stop_it)(void *object), void *object)
{
    struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    interrupt_catch(stop_it, object, &run->before);
    sigaction(SIGCHLD, &child, &run->on_child);
    sigprocmask(SIG_SETMASK, &run->mask, NULL);
}

void interrupt_end(const struct interrupted_run *run)
{
    sigaction(SIGCHLD, &run->on_child, NULL);
    interrupt_restore(&run->before);
}
