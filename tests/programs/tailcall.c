/*
 * Tail calls: the caller is gone when the callee runs, so it belongs to no path. Of the time:
 *
 *   50%  main parse leaf       (main calls dispatch, which jumps to parse)
 *   30%  main print leaf       (main calls dispatch, which jumps to print)
 *   20%  main dispatch         (its own work before it jumps)
 */
#include "program.h"

static volatile char sink;

KNOWN static int leaf(unsigned ms)
{
    int one = 1;
    __asm__("" : "+r"(one)); /* lest its callers' results become constants, and their calls no tail calls */
    spin(ms);
    return one;
}

KNOWN static int parse(unsigned ms)
{
    int result = leaf(ms);
    sink = 1;
    return result + 1;
}

KNOWN static int print(unsigned ms)
{
    volatile char frame[64];
    frame[ms % sizeof frame] = 1;
    int result = leaf(ms);
    sink = frame[ms % sizeof frame];
    return result + 2;
}

KNOWN static int dispatch(unsigned ms)
{
    spin(80);
    return ms > 300 ? parse(ms) : print(ms);
}

int main(void)
{
    int sum = dispatch(400);
    sum += dispatch(240);
    return sum == 5 ? 0 : 1;
}
