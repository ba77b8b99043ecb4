/*
 * Asks for the time after work in the C library:
 *
 *   main copy, in the library;  main ask gettimeofday, in the vDSO, which the library chooses at the first
 *   call
 */
#include <string.h>
#include <sys/time.h>

#include "program.h"

char from[1 << 16], to[1 << 16]; /* others may read them */

KNOWN static void copy(void)
{
    for (int i = 0; i < 300000; i++) {
        memcpy(to, from, sizeof to);
        CALLED();
    }
}

static volatile long asked; /* keeps the calls */

KNOWN static long ask(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    CALLED();
    return t.tv_usec;
}

int main(void)
{
    copy();
    for (int i = 0; i < 24000000; i++)
        asked = ask();
    return 0;
}
