/* vectors.c - has values in vector registers where checks are, at ever other heights of the stack; prints their sum. */
#include <stdio.h>

#define APART __attribute__((noinline))
typedef double wide __attribute__((vector_size(32)));

APART static double deep(int n, double a, double b, double c, double d, double e, double f, double g,
                         double h)
{
    return n ? deep(n - 1, a + 1, b, c - 1, d, e + 2, f, g, h) + a * h + n : a + b + c + d + e + f + g + h;
}

APART __attribute__((target("avx"))) static double wider(int n, wide a, wide b, wide c)
{
    if (n)
        return wider(n - 1, a + c, b, c) + b[3] + n;
    return a[0] + a[1] + a[2] + a[3] + b[0] + b[2] + c[1];
}

APART __attribute__((target("avx"))) static double widest(int n, const wide *v)
{
    return wider(n, v[0], v[1], v[2]);
}

int main(void)
{
    wide v[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {.5, .25, .125, 9}};
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        sum += deep(i, 1, 2, 3, 4, 5, 6, 7, 8);
        if (__builtin_cpu_supports("avx"))
            sum += widest(i, v);
    }
    printf("%.3f\n", sum);
    return 0;
}
