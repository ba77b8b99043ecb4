/*
 * Signal handlers on the normal stack and on one of their own. Of the time:
 *
 *   40%  main normal (raise ...) on_normal handle
 *   30%  main alternate (raise ...) on_alternate handle      on the alternate stack: its path begins with on_alternate
 *   30%  main after
 */
#include <signal.h>
#include <string.h>

#include "program.h"

static volatile char sink;
static char stack[64 * 1024];

KNOWN static void handle(unsigned ms)
{
    spin(ms);
}

KNOWN static void on_normal(int number)
{
    (void)number;
    handle(320);
    sink = 1;
}

KNOWN static void on_alternate(int number)
{
    (void)number;
    handle(240);
    sink = 2;
}

KNOWN static void normal(void)
{
    raise(SIGUSR1);
    sink = 3;
}

KNOWN static void alternate(void)
{
    raise(SIGUSR2);
    sink = 4;
}

KNOWN static void after(void)
{
    spin(240);
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_normal;
    sigaction(SIGUSR1, &action, NULL);
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    action.sa_handler = on_alternate;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    normal();
    alternate();
    after();
    return 0;
}
