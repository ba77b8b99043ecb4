/* case_flow.c - control flow within a thread: tail calls, jumps out of frames, recursion, coroutines,
 * callbacks. */
#include <cpuid.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/probe/cases/cases.h"

KNOWN void leaf(void)
{
    CALLED();
}

/* Tail calls: jumps when optimised.
 * -------------------------------------------------------------------------- */

KNOWN int tail_end(int n)
{
    leaf();
    CALLED();
    return n;
}

KNOWN int tail_middle(int n)
{
    return tail_end(n + 1);
}

KNOWN int tail_start(int n)
{
    leaf();
    return tail_middle(n + 1);
}

int run_tail(const char *argument)
{
    (void)argument;
    int n = 0;
    for (int i = 0; i < 5; i++)
        n = tail_start(n);
    CALLED();
    return n != 10;
}

/* longjmp out of hooked frames
 * ------------------------------------------------------------------------------- */

static jmp_buf back;
static volatile int far = 1;

KNOWN void inner(int n)
{
    char capacity[48];
    __asm__ volatile("" : : "r"(capacity) : "memory");
    if (n)
        inner(n - 1);
    else if (far)
        longjmp(back, 1);
    CALLED();
}

KNOWN void after(void)
{
    leaf();
    witness();
    CALLED();
}

int run_jump(const char *argument)
{
    (void)argument;
    for (volatile int i = 0; i < 4; i++) {
        if (setjmp(back) == 0)
            inner(i);
        after();
    }
    return 0;
}

/* Recursion
 * -------------------------------------------------------------------------------------------------- */

KNOWN int down(int n)
{
    int below = n > 1 ? down(n - 1) : 0;
    CALLED();
    return below + 1;
}

int run_deep(const char *argument)
{
    int depth = atoi(argument), n = down(depth);
    CALLED();
    return n != depth;
}

/* Coroutines
 * ------------------------------------------------------------------------------------------------- */

static ucontext_t main_context, contexts[2];
static char stacks[2][32768]; /* side by side */

KNOWN void pass(int self)
{
    leaf();
    swapcontext(&contexts[self], &main_context);
    CALLED();
}

KNOWN void routine(int self, int rounds)
{
    witness();
    for (int i = 0; i < rounds; i++)
        pass(self);
    CALLED();
}

KNOWN void other_routine(int self)
{
    routine(self, 1);
    CALLED();
}

KNOWN void start(int self, void (*entry)(void), int rounds)
{
    getcontext(&contexts[self]);
    contexts[self].uc_stack.ss_sp = stacks[self];
    contexts[self].uc_stack.ss_size = sizeof stacks[self];
    contexts[self].uc_link = &main_context;
    makecontext(&contexts[self], entry, 2, self, rounds);
}

KNOWN void resume(int self)
{
    swapcontext(&main_context, &contexts[self]);
    leaf();
    CALLED();
}

int run_coroutines(const char *argument)
{
    (void)argument;
    start(0, (void (*)(void))routine, 3);
    start(1, (void (*)(void))routine, 2);
    for (int i = 0; i < 4; i++) {
        resume(0);
        if (i < 3)
            resume(1);
    }
    start(1, (void (*)(void))other_routine, 0); /* on a stack that was another's */
    resume(1);
    resume(1);
    return 0;
}

/* Through libraries
 * ------------------------------------------------------------------------------------------ */

KNOWN int compare(const void *a, const void *b)
{
    leaf();
    CALLED();
    return *(const int *)a - *(const int *)b;
}

int run_sort(const char *argument)
{
    (void)argument;
    int numbers[2] = {2, 1};
    for (int i = 0; i < 3; i++)
        qsort(numbers, 2, sizeof *numbers, compare);
    CALLED();
    return numbers[0] != 1;
}

/* Arguments of all kinds
 * ------------------------------------------------------------------------------------- */

struct large {
    double a[5];
};

KNOWN double vary(int count, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
    va_end(list);
    leaf();
    return sum;
}

KNOWN long double extended(long double x, struct large by_value, __int128 wide)
{
    leaf();
    CALLED();
    return x + (long double)by_value.a[4] + (long)(wide >> 64);
}

KNOWN struct large by_memory(double a, double b, double c, double d, double e, double f, double g, double h,
                             double i)
{
    leaf();
    CALLED();
    return (struct large){{a + b, c + d, e + f, g + h, i}};
}

/* Keeps a 32-byte vector in a register over a call. */
__asm__(".text\n.p2align 4\n.globl keep_vector\n.type keep_vector, @function\nkeep_vector:\n.cfi_startproc\n"
        " push %rsi\n.cfi_adjust_cfa_offset 8\n vmovups (%rdi), %ymm5\n call leaf\n pop %rsi\n"
        ".cfi_adjust_cfa_offset -8\n vmovups %ymm5, (%rsi)\n vzeroupper\n ret\n"
        ".cfi_endproc\n.size keep_vector, . - keep_vector\n");
void keep_vector(const float *in, float *out);

KNOWN int has_avx(void)
{
    unsigned a, b, c, d, low = 0, high = 0;
    __cpuid(1, a, b, c, d);
    (void)(a + b + d);
    if (!(c & bit_OSXSAVE) || !(c & bit_AVX))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

int run_arguments(const char *argument)
{
    (void)argument;
    struct large l = {{1, 2, 3, 4, 5}}, m = by_memory(1, 2, 3, 4, 5, 6, 7, 8, 9);
    int bad = vary(9, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8.5, 9) != 47;
    bad += extended(0.5L, l, (__int128)3 << 64) != 8.5L;
    bad += m.a[0] != 3 || m.a[3] != 15 || m.a[4] != 9;
    float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8];
    if (has_avx())
        keep_vector(in, out);
    else
        memcpy(out, in, sizeof out);
    bad += memcmp(in, out, sizeof in) != 0;
    CALLED();
    return bad;
}

/* Entries where no detour fits: breakpoints
 * ------------------------------------------------------------------ */

/* A branch into the first five bytes, calls in the loop. */
__asm__(".text\n.p2align 4\n.globl into_entry\n.type into_entry, @function\ninto_entry:\n.cfi_startproc\n"
        " push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\n mov %edi, %ebx\n"
        "1: dec %ebx\n js 2f\n call leaf\n jmp 1b\n"
        "2: pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\n ret\n"
        ".cfi_endproc\n.size into_entry, . - into_entry\n"
        /* Two bytes, and the next function at once. */
        ".globl too_short\n.type too_short, @function\ntoo_short:\n.cfi_startproc\n xchg %eax, %eax\n ret\n"
        ".cfi_endproc\n.size too_short, . - too_short\n"
        ".globl behind\n.type behind, @function\nbehind:\n.cfi_startproc\n jmp leaf\n.cfi_endproc\n"
        ".size behind, . - behind\n"
        /* A loop from the entry on, with a branch inside: its rounds are no calls. */
        ".globl spins\n.type spins, @function\nspins:\n.cfi_startproc\n"
        " add %rsi, %rax\n test $1, %dil\n je 1f\n inc %rsi\n1: dec %edi\n jne spins\n ret\n"
        ".cfi_endproc\n.size spins, . - spins\n");
void into_entry(int n);
void too_short(void);
void behind(void);
void spins(int rounds);

int run_short(const char *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++) {
        into_entry(2);
        too_short();
        behind();
        spins(1000);
    }
    CALLED();
    return 0;
}

const struct known_case cases[] = {
    {"tail", run_tail}, {"jump", run_jump},           {"deep", run_deep},   {"coroutines", run_coroutines},
    {"sort", run_sort}, {"arguments", run_arguments}, {"short", run_short}, {0},
};
