/*
 * here.h - captures where a thread is: three registers, one move each, to be resolved later (resolve.h).
 *
 * All functions are inline, call nothing and write nothing but their result, so they may be used anywhere, also in signal handlers. The
 * thread's ID is not included: it would take a system call, and SP identifies the stack.
 */
#ifndef FATHOM_HERE_H
#define FATHOM_HERE_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_point {
    uint64_t pc, sp, bp; /* RIP, RSP and RBP before the instruction at pc */
};

#define FATHOM_HERE static inline __attribute__((always_inline, unused))

/* The caller's own position. */
FATHOM_HERE struct fathom_point fathom_here(void)
{
    struct fathom_point here;
    /* BP first: where it is no frame pointer, the compiler may choose it as the register of another output. */
    __asm__ volatile("mov %%rbp, %2\n\tmov %%rsp, %1\n1:\tlea 1b(%%rip), %0"
                     : "=r"(here.pc), "=r"(here.sp), "=r"(here.bp));
    return here;
}

/* The position that a signal interrupted: `ucontext` is the third argument of its handler (SA_SIGINFO). */
FATHOM_HERE struct fathom_point fathom_interrupted(const void *ucontext)
{
    /* BP, SP and IP in struct ucontext and struct sigcontext_64: include/uapi/asm-generic/ucontext.h,
     * arch/x86/include/uapi/asm/sigcontext.h. */
    struct fathom_point point;
    memcpy(&point.bp, (const char *)ucontext + 120, sizeof point.bp);
    memcpy(&point.sp, (const char *)ucontext + 160, sizeof point.sp);
    memcpy(&point.pc, (const char *)ucontext + 168, sizeof point.pc);
    return point;
}

#ifdef __cplusplus
}
#endif

#endif
