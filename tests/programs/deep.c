/*
 * "deep [DEPTH [MS]]": recursion DEPTH frames deep (1500), MS milliseconds (600) of work at its end. Of the
 * time:
 *
 *   75%  main dive ... dive bottom
 *   25%  main surface
 */
#include "program.h"

static volatile char sink;

KNOWN static void bottom(unsigned ms)
{
    spin(ms);
}

KNOWN static void dive(unsigned depth, unsigned ms)
{
    if (depth > 1)
        dive(depth - 1, ms);
    else
        bottom(ms);
    sink = 1;
}

KNOWN static void surface(unsigned ms)
{
    spin(ms);
}

int main(int argc, char **argv)
{
    unsigned depth = argc > 1 ? (unsigned)atoi(argv[1]) : 1500;
    unsigned ms = argc > 2 ? (unsigned)atoi(argv[2]) : 600;
    dive(depth, ms);
    surface(ms / 3);
    sink = 2;
    return 0;
}
