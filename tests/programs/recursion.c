/*
 * Mutual recursion with frames of different sizes. Of the time:
 *
 *   60%  main even odd even odd even        (even(4))
 *   30%  main even odd                      (even(1))
 *   10%  main odd even odd                  (odd(2))
 */
#include "program.h"

static volatile char sink;

static void odd(unsigned n, unsigned ms);

KNOWN static void even(unsigned n, unsigned ms)
{
    volatile char frame[200];
    frame[n] = (char)n;
    if (n == 0)
        spin(ms);
    else
        odd(n - 1, ms);
    sink = frame[n];
}

KNOWN static void odd(unsigned n, unsigned ms)
{
    volatile char frame[72];
    frame[n] = (char)n;
    if (n == 0)
        spin(ms);
    else
        even(n - 1, ms);
    sink = frame[n];
}

int main(void)
{
    even(4, 480);
    even(1, 240);
    odd(2, 80);
    return 0;
}
