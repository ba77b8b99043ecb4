/*
 * trap.c - see trap.h. The SIGTRAP handler: for our breakpoints, the function continues in its trampoline
 * (breakpoint.h) when the handler returns; nothing is single-stepped and no code is written.
 */
#include "pathmap/probe/trap.h"

#include <ucontext.h>

#include "pathmap/probe/arguments.h"
#include "pathmap/probe/breakpoint.h"
#include "base/raw.h"

#define BIT (1ul << (SIGTRAP - 1))

static struct {
    bool started;
    uint32_t lock, pid;
    struct sigaction program; /* what the program set */
} state;

static __thread __attribute__((tls_model("initial-exec"))) struct {
    bool blocked, pending;
    siginfo_t info; /* of the pending one */
} mine;

/* Unwinders recognise a signal frame by exactly these bytes. */
__asm__(".text\n"
        ".p2align 4\n"
        "nop\n"
        ".globl trap_restorer\n"
        ".hidden trap_restorer\n"
        ".type trap_restorer, @function\n"
        "trap_restorer:\n"
        "    mov $15, %rax\n"
        "    syscall\n"
        ".size trap_restorer, . - trap_restorer\n");

/* Called by the kernel. Jumps to a handler of the program with the same stack pointer, so that it returns to
 * the kernel's frame, is recognised as a handler, and has the interrupted code as its caller. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type trap_entry, @function\n"
        "trap_entry:\n"
        "    .cfi_startproc\n" ARGUMENTS_PUSH(rdi) ARGUMENTS_PUSH(rsi)
            ARGUMENTS_PUSH(rdx) "    call trap_handle\n" ARGUMENTS_POP(rdx) ARGUMENTS_POP(rsi)
                ARGUMENTS_POP(rdi) "    test %rax, %rax\n"
                                   "    je 1f\n"
                                   "    jmp *%rax\n"
                                   "1:  ret\n"
                                   "    .cfi_endproc\n"
                                   ".size trap_entry, . - trap_entry\n");
extern void trap_entry(int sig, siginfo_t *info, void *context) __attribute__((visibility("hidden")));
__attribute__((used, visibility("hidden"))) void *trap_handle(int sig, siginfo_t *info, void *context);

/* Masks -------------------------------------------------------------------------------------------------- */

bool trap_in(const sigset_t *set)
{
    return *(const unsigned long *)set & BIT;
}

void trap_add(sigset_t *set)
{
    *(unsigned long *)set |= BIT;
}

const sigset_t *trap_without(const sigset_t *set, sigset_t *copy)
{
    if (!set)
        return NULL;
    raw_copy(copy, set, sizeof *copy);
    *(unsigned long *)copy &= ~BIT;
    return copy;
}

/* The lock is held with all signals blocked, so that no handler on this thread can request it. Our own code
 * has no breakpoints. */
static unsigned long take_lock(void)
{
    unsigned long old = raw_signal_mask(SIG_BLOCK, ~0ull);
    while (__atomic_exchange_n(&state.lock, 1, __ATOMIC_ACQUIRE))
        raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    return old;
}

static void drop_lock(unsigned long old)
{
    __atomic_store_n(&state.lock, 0, __ATOMIC_RELEASE);
    raw_signal_mask(SIG_SETMASK, old);
}

/* The action in the kernel ------------------------------------------------------------------------------- */

/* SA_NODEFER: the program's handler, called from ours, may hit breakpoints. Uses the alternate stack, if the
 * thread has one, unless the program's handler is for the normal one: the program chose its size. */
static void install_action(void)
{
    unsigned long flags = SA_ONSTACK | SA_RESTART;
    if (state.program.sa_handler != SIG_DFL && state.program.sa_handler != SIG_IGN)
        flags = (unsigned long)state.program.sa_flags & (SA_ONSTACK | SA_RESTART);
    struct kernel_action a = {trap_entry, flags | SA_SIGINFO | SA_NODEFER | SA_RESTORE, trap_restorer, 0};
    raw_call(SYS_rt_sigaction, SIGTRAP, (long)&a, 0, sizeof a.mask, 0, 0);
}

/* Does what SIG_DFL does. Returns if a debugger suppressed the signal. */
static void die_of_trap(void)
{
    struct kernel_action a = {.flags = SA_RESTORE, .restorer = trap_restorer};
    raw_call(SYS_rt_sigaction, SIGTRAP, (long)&a, 0, sizeof a.mask, 0, 0);
    raw_call(SYS_tgkill, raw_pid(), raw_tid(), SIGTRAP, 0, 0, 0);
    unsigned long old = take_lock();
    install_action();
    drop_lock(old);
}

void trap_action(const struct sigaction *action, struct sigaction *old)
{
    unsigned long mask = take_lock();
    struct sigaction before;
    raw_copy(&before, &state.program, sizeof before);
    if (action && state.pid == raw_pid()) {
        raw_copy(&state.program, action, sizeof state.program);
        install_action();
    }
    drop_lock(mask);
    if (old)
        raw_copy(old, &before, sizeof before);
}

/* Signals ------------------------------------------------------------------------------------------------ */

bool trap_blocked(void)
{
    return mine.blocked;
}

bool trap_pending(void)
{
    return mine.pending;
}

void trap_block(bool blocked)
{
    mine.blocked = blocked;
    if (blocked || !mine.pending)
        return;
    siginfo_t info;
    raw_copy(&info, &mine.info, sizeof info);
    mine.pending = false;
    raw_call(SYS_rt_tgsigqueueinfo, raw_pid(), raw_tid(), SIGTRAP, (long)&info, 0, 0);
}

/* The program's handler for a SIGTRAP that is not ours; NULL: call none. caused: by the thread's own instruction,
 * so it cannot be deferred. */
static void *pass_on(const siginfo_t *info, bool caused)
{
    struct sigaction a;
    if (mine.blocked && !caused) {
        raw_copy(&mine.info, info, sizeof mine.info);
        mine.pending = true;
        return NULL;
    }
    unsigned long old = take_lock();
    raw_copy(&a, &state.program, sizeof a);
    bool handled = a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && !mine.blocked;
    if (handled && (a.sa_flags & (int)SA_RESETHAND))
        state.program.sa_handler = SIG_DFL;
    drop_lock(old);
    if (!handled) {
        if (a.sa_handler != SIG_IGN || caused)
            die_of_trap();
        return NULL;
    }
    /* the return from the signal restores the mask */
    raw_signal_mask(SIG_BLOCK, *(unsigned long *)&a.sa_mask & ~BIT);
    return (void *)(uintptr_t)a.sa_handler; /* shares its place with sa_sigaction */
}

/* Returns the program's handler to call, or NULL. */
void *trap_handle(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    bool caused = info->si_code > 0;
    uint64_t trampoline = caused ? breakpoint_find((uint64_t)*rip - 1) : 0;
    if (!trampoline)
        return pass_on(info, caused);
    *rip = (greg_t)trampoline;
    return NULL;
}

bool trap_started(void)
{
    return state.started;
}

void trap_start(void)
{
    struct kernel_action found = {0};
    raw_call(SYS_rt_sigaction, SIGTRAP, 0, (long)&found, sizeof found.mask, 0, 0);
    bool ignored = (uintptr_t)found.handler == (uintptr_t)SIG_IGN;
    state.program.sa_handler = ignored ? SIG_IGN : SIG_DFL;
    state.pid = raw_pid();
    install_action();
    mine.blocked = raw_signal_mask(SIG_UNBLOCK, BIT) & BIT; /* inherited through exec */
    state.started = true;
}

void trap_leave(void)
{
    struct kernel_action a = {.mask = *(const unsigned long *)&state.program.sa_mask};
    if (!state.started)
        return;
    unsigned long old = take_lock();
    a.handler = state.program.sa_sigaction;
    a.flags = (unsigned)state.program.sa_flags | SA_RESTORE;
    a.restorer = trap_restorer;
    raw_call(SYS_rt_sigaction, SIGTRAP, (long)&a, 0, sizeof a.mask, 0, 0);
    state.started = false;
    drop_lock(old | (mine.blocked ? BIT : 0));
}

void trap_fork_child(void)
{
    if (!state.started)
        return;
    state.pid = raw_pid();
    __atomic_store_n(&state.lock, 0, __ATOMIC_RELEASE);
    mine.pending = false; /* pending signals stay with the parent */
}
