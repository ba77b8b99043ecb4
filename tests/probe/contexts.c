/*
 * contexts.c - coroutines by makecontext() with arguments, on stacks side by side; and a handler on an
 * alternate stack.
 */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#include "tests/programs/program.h"

static ucontext_t main_context, contexts[2];
static char stacks[2][65536], handler_stack[65536];
static int sums[2];

static KNOWN void yield(int self)
{
    swapcontext(&contexts[self], &main_context);
}

static KNOWN void routine(int self, int a, int b, int c, int d, int e, int f, int g)
{
    for (int i = 0; i < 3; i++) {
        sums[self] = sums[self] * 10 + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g;
        yield(self);
    }
}

static void on_signal(int sig)
{
    char here;
    sums[0] += sig == SIGUSR1 && &here > handler_stack && &here < handler_stack + sizeof handler_stack;
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack = (stack_t){.ss_sp = stacks[i], .ss_size = sizeof stacks[i]};
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))routine, 8, i, 1, 2, 3, 4, 5, 6, 7 + i);
    }
    for (int i = 0; i < 8; i++)
        swapcontext(&main_context, &contexts[i % 2]);
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct sigaction a = {.sa_flags = SA_ONSTACK};
    a.sa_handler = on_signal;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &a, NULL);
    raise(SIGUSR1);
    printf("%d %d\n", sums[0], sums[1]);
    return 0;
}
