/* case_signals.c - signal handlers on the normal and on an alternate stack; SIGTRAP; everything blocked. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "tests/probe/cases/cases.h"

KNOWN void leaf(void)
{
    CALLED();
}

/* Its loop goes back into its first bytes: a detour fits not, so it has a breakpoint. */
__asm__(".text\n.p2align 4\n.globl trapped\n.type trapped, @function\ntrapped:\n.cfi_startproc\n"
        " push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\n mov %edi, %ebx\n"
        "1: dec %ebx\n js 2f\n call leaf\n jmp 1b\n"
        "2: pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\n ret\n"
        ".cfi_endproc\n.size trapped, . - trapped\n");
void trapped(int n);

KNOWN void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_flags = flags};
    action.sa_handler = handler;
    sigaction(signal, &action, NULL);
    CALLED();
}

static char alternate[65536];

KNOWN void use_alternate(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    CALLED();
}

KNOWN void send(int signal)
{
    raise(signal);
    leaf();
    CALLED();
}

/* One handler, and one within another
 * ------------------------------------------------------------------------ */

KNOWN void on_simple(int signal)
{
    (void)signal;
    leaf();
    trapped(1);
    witness();
    CALLED();
}

KNOWN void on_nesting(int signal)
{
    (void)signal;
    leaf();
    send(SIGUSR2);
    CALLED();
}

int run_normal(const char *argument)
{
    (void)argument;
    handle(SIGUSR2, on_simple, 0);
    handle(SIGUSR1, on_nesting, 0);
    for (int i = 0; i < 3; i++)
        send(SIGUSR2);
    send(SIGUSR1);
    return 0;
}

int run_alternate(const char *argument)
{
    (void)argument;
    use_alternate();
    handle(SIGUSR2, on_simple, SA_ONSTACK);
    handle(SIGUSR1, on_nesting, SA_ONSTACK);
    for (int i = 0; i < 3; i++)
        send(SIGUSR2);
    send(SIGUSR1);
    return 0;
}

/* Out of a handler by a jump
 * --------------------------------------------------------------------------------- */

static sigjmp_buf back;

KNOWN void on_jump(int signal)
{
    (void)signal;
    leaf();
    siglongjmp(back, 1);
}

int run_signal_jump(const char *argument)
{
    if (*argument == 'a')
        use_alternate();
    handle(SIGUSR1, on_jump, *argument == 'a' ? SA_ONSTACK : 0);
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0)
            send(SIGUSR1);
        trapped(1);
    }
    return 0;
}

/* At any instruction, also of hooks
 * -------------------------------------------------------------------------- */

static volatile int alarms;
static volatile unsigned long work_done;

KNOWN void on_alarm(int signal)
{
    (void)signal;
    alarms++;
    leaf();
    CALLED();
}

KNOWN void work(int depth)
{
    leaf();
    if (depth)
        work(depth - 1);
    work_done++;
}

int run_anytime(const char *argument)
{
    struct itimerval each_ms = {{0, 1000}, {0, 1000}}, never = {0};
    if (*argument == 'a')
        use_alternate();
    handle(SIGALRM, on_alarm, SA_RESTART | (*argument == 'a' ? SA_ONSTACK : 0));
    setitimer(ITIMER_REAL, &each_ms, NULL);
    while (alarms < 100)
        work(4);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("alarms %d work %lu\n", alarms, work_done);
    return 0;
}

/* SIGTRAP and blocked signals
 * -------------------------------------------------------------------------------- */

static volatile int traps;

KNOWN void on_trap(int signal)
{
    traps += signal == SIGTRAP;
    trapped(1);
    CALLED();
}

int run_trap(const char *argument)
{
    (void)argument;
    trapped(1);
    handle(SIGTRAP, on_trap, 0);
    for (int i = 0; i < 2; i++) {
        raise(SIGTRAP);
        trapped(1);
        __asm__ volatile("int3" ::: "memory");
    }
    CALLED();
    return traps != 4;
}

int run_blocked(const char *argument)
{
    (void)argument;
    struct sigaction action = {0};
    sigset_t all;
    sigfillset(&all);
    action.sa_handler = on_simple;
    action.sa_mask = all;
    sigaction(SIGUSR1, &action, NULL);
    send(SIGUSR1);
    sigprocmask(SIG_SETMASK, &all, NULL);
    trapped(2);
    send(SIGTRAP); /* waits for ever */
    trapped(2);
    return 0;
}

const struct known_case cases[] = {
    {"normal", run_normal},
    {"alternate", run_alternate},
    {"signal-jump", run_signal_jump},
    {"anytime", run_anytime},
    {"trap", run_trap},
    {"blocked", run_blocked},
    {0},
};
