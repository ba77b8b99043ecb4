/*
 * cyg_calls.c - known calls, built with -finstrument-functions, with and without frame pointers.
 */
#include "tests/pathmap/cyg_calls.h"

#include <alloca.h>
#include <setjmp.h>

#define KEEP    __attribute__((noinline))
#define AFTER() __asm__ volatile("" : : : "memory")

static jmp_buf back;

static KEEP void leaf(void)
{
    AFTER();
}

static KEEP int nine(int p, int q, int r, int s, int t, int u, int v, int w, int x)
{
    leaf();
    AFTER();
    return p + q + r + s + t + u + v + w + x;
}

static KEEP int down(int n)
{
    char capacity[200];
    __asm__ volatile("" : : "r"(capacity) : "memory");
    int r = n ? down(n - 1) + 1 : 0;
    AFTER();
    return r;
}

static KEEP void grow(int bytes)
{
    leaf();
    char *p = alloca((unsigned)bytes);
    __asm__ volatile("" : : "r"(p) : "memory");
    down(1);
    AFTER();
}

static KEEP void leap(void)
{
    leaf();
    longjmp(back, 1);
}

KEEP int CYG_CALLS(void)
{
    int r = 0;
    for (int i = 0; i < 10; i++) {
        leaf();
        r += nine(1, 2, 3, 4, 5, 6, 7, 8, 9);
        r += down(3);
        grow(1000);
        if (!setjmp(back))
            leap();
    }
    AFTER();
    return r;
}
