/*
 * All the ways that control takes through C code, with an output that depends on each: switches, computed gotos, tail
 * calls, recursion, pointers to functions, longjmp, cold parts, loop and jrcxz, alloca, variable arguments, and stack
 * arguments. For tests that change the code.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline))

static unsigned long sum = 17;
static jmp_buf back;

KEPT static void note(unsigned long value)
{
    sum = sum * 31 + value;
}

KEPT static int classify(int n)
{
    switch (n) {
    case 0:
        note(3);
        return 5;
    case 1:
        return 8;
    case 2:
        note(9);
        return 1;
    case 3:
        note(4);
        return 77;
    case 4:
        return 12;
    case 6:
        note(1);
        return 13;
    case 7:
        return (int)sum & 7;
    default:
        return -1;
    }
}

/* An interpreter as computed gotos make it. */
KEPT static int interpret(const char *code)
{
    static const void *const labels[] = {&&halt, &&add, &&twice, &&call, &&jump};
    int value = 1;
    goto *labels[(int)*code];
add:
    value += 3;
    goto *labels[(int)*++code];
twice:
    value *= 2;
    goto *labels[(int)*++code];
call:
    value += classify(value & 7);
    goto *labels[(int)*++code];
jump:
    code += value & 1;
    goto *labels[(int)*++code];
halt:
    return value;
}

KEPT static int tail(int n, int to)
{
    note((unsigned)n);
    return classify(n % to);
}

KEPT static int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

KEPT static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

KEPT static int average(int count, ...)
{
    va_list list;
    int total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        total += va_arg(list, int);
    va_end(list);
    return count ? total / count : 0;
}

KEPT static long many(long a, long b, long c, long d, long e, long f, long g, long h, const char *i)
{
    note((unsigned long)(a + b * c));
    return d + e * f - g + h + i[0];
}

KEPT __attribute__((cold, noreturn)) static void give_up(int code)
{
    note(99);
    longjmp(back, code);
}

KEPT static int risky(int n)
{
    char *text = alloca((size_t)n + 16);
    memset(text, 'a' + n, (size_t)n + 16);
    if (__builtin_expect(n > 20, 0)) {
        note((unsigned char)text[n]);
        give_up(n);
    }
    return text[n];
}

#ifdef __x86_64__
KEPT static long count_down(long n)
{
    long total = 0;
    __asm__ volatile("jrcxz 2f\n1: add %%rcx, %0\nloop 1b\n2:" : "+r"(total), "+c"(n));
    return total;
}
#endif

static int (*volatile chosen)(int) = classify;

int main(void)
{
    int numbers[] = {5, 2, 9, 1, 7};
    for (int i = -1; i < 9; i++)
        note((unsigned)classify(i) + (unsigned)chosen(i) + (unsigned)tail(i + 1, 6));
    note((unsigned)interpret("\1\2\3\2\1\4\1\3\0"));
    note((unsigned)ackermann(2, 7));
    qsort(numbers, 5, sizeof *numbers, compare);
    for (int i = 0; i < 5; i++)
        note((unsigned)numbers[i]);
    note((unsigned)average(3, 10, 20, 33) + (unsigned long)many(1, 2, 3, 4, 5, 6, 7, 8, "x"));
    for (volatile int i = 1; i < 40; i += 7) {
        int code = setjmp(back);
        note(code ? (unsigned)code : (unsigned)risky(i));
    }
#ifdef __x86_64__
    note((unsigned long)count_down(100) + (unsigned long)count_down(0));
#endif
    printf("%lu\n", sum);
    return 0;
}
