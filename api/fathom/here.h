/*
 * here.h - where a thread is: three registers, which take a move each and are resolved later (resolve.h).
 *
 * All of this is inline, calls nothing and writes nothing but its result: it may be used anywhere, in signal handlers, too. No thread's number is in it: to
 * ask for that would take a system call, and the stack is known by SP.
 */
#ifndef FATHOM_HERE_H
#define FATHOM_HERE_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_point {
    uint64_t pc, sp, bp; /* as they are before the instruction at pc: RIP, RSP, RBP */
};

#define FATHOM_HERE static inline __attribute__((always_inline, unused))

/* The caller's own. */
FATHOM_HERE struct fathom_point fathom_here(void)
{
    struct fathom_point here;
    /* BP first: the compiler may take it for one of the others, where it is no frame pointer. */
    __asm__ volatile("mov %%rbp, %2\n\tmov %%rsp, %1\n1:\tlea 1b(%%rip), %0"
                     : "=r"(here.pc), "=r"(here.sp), "=r"(here.bp));
    return here;
}

/* What a signal interrupted: `ucontext` is the third argument of its handler (SA_SIGINFO). */
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
