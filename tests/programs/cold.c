/*
 * A function whose unlikely part the compiler moves away (repair.cold), and which runs nothing else. Of the
 * time:
 *
 *   40%  main repair           (in its cold part)
 *   40%  main repair patch     (called from its cold part)
 *   20%  main repair inspect   (called from its hot part)
 */
#include "program.h"

static volatile char sink;

KNOWN __attribute__((cold)) static void patch(unsigned ms)
{
    spin(ms);
}

KNOWN static void inspect(unsigned ms)
{
    spin(ms);
}

KNOWN static void repair(int damaged)
{
    volatile char frame[40];
    frame[0] = 1;
    inspect(160);
    if (damaged) {
        patch(320);
        spin(320);
        patch(0);
    }
    sink = frame[0];
}

int main(int argc, char **argv)
{
    (void)argv;
    repair(argc > 0);
    sink = 2;
    return 0;
}
