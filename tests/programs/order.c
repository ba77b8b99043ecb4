/*
 * The same functions in another order, so that the heights are the same and no CID tells them apart:
 *
 *   70%  main left right leaf
 *   30%  main right left leaf
 */
#include "program.h"

static volatile char sink;

KNOWN static void leaf(unsigned ms)
{
    spin(ms);
}

static void right(unsigned depth, unsigned ms);

KNOWN static void left(unsigned depth, unsigned ms)
{
    if (depth)
        right(depth - 1, ms);
    else
        leaf(ms);
    sink = 1;
}

KNOWN static void right(unsigned depth, unsigned ms)
{
    if (depth)
        left(depth - 1, ms);
    else
        leaf(ms);
    sink = 1;
}

int main(void)
{
    /* By turns, so that no part of the run has but one of the two. */
    for (unsigned i = 0; i < 10; i++) {
        left(1, 42);
        right(1, 18);
    }
    return 0;
}
