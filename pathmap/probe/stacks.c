/*
 * stacks.c - wraps makecontext() and sigaltstack(), to learn where the program's stacks are.
 */
#include <signal.h>
#include <ucontext.h>

#include "pathmap/probe/arguments.h"
#include "pathmap/probe/core.h"
#include "pathmap/probe/real.h"

void (*stacks_new_context(const ucontext_t *context))(void);

/* Called by makecontext() below, which then jumps to the function that this returns. */
__attribute__((used, visibility("hidden"))) void (*stacks_new_context(const ucontext_t *context))(void)
{
    uint64_t low = (uint64_t)(uintptr_t)context->uc_stack.ss_sp;
    core_stack(low, low + context->uc_stack.ss_size);
    return real_resolve()->makecontext;
}

/* In assembly, since it passes on an unknown number of arguments. They are integers, and rax is the number of
 * vector registers used: 0. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl makecontext\n"
        ".type makecontext, @function\n"
        "makecontext:\n"
        "    .cfi_startproc\n"
        "    endbr64\n" ARGUMENTS_SAVE "    call stacks_new_context\n"
        "    mov %rax, %r11\n" ARGUMENTS_RESTORE "    xor %eax, %eax\n"
        "    jmp *%r11\n"
        "    .cfi_endproc\n"
        ".size makecontext, . - makecontext\n");

EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    int result = real_resolve()->sigaltstack(stack, old);
    if (result == 0 && stack && !(stack->ss_flags & SS_DISABLE)) {
        uint64_t low = (uint64_t)(uintptr_t)stack->ss_sp;
        core_stack(low, low + stack->ss_size);
    }
    return result;
}
