/*
 * "stages MS [TIMES [OTHERS]]": three stages by turns, 40 times, of which the second takes MS milliseconds and the others 10 each:
 *
 *   main parse
 *   main optimise fold (half of it)
 *   main emit
 */
#include "program.h"

KNOWN static void parse(unsigned ms)
{
    spin(ms);
    CALLED();
}

KNOWN static void fold(unsigned ms)
{
    spin(ms);
    CALLED();
}

KNOWN static void optimise(unsigned ms)
{
    fold(ms / 2);
    spin(ms - ms / 2);
    CALLED();
}

KNOWN static void emit(unsigned ms)
{
    spin(ms);
    CALLED();
}

int main(int argc, char **argv)
{
    unsigned ms = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    unsigned times = argc > 2 ? (unsigned)atoi(argv[2]) : 40,
             others = argc > 3 ? (unsigned)atoi(argv[3]) : 10;
    for (unsigned i = 0; i < times; i++) {
        parse(others);
        optimise(ms);
        emit(others);
    }
    return 0;
}
