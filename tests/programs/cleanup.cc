/*
 * An exception that a cleanup resumes. Before libgcc jumps to the landing pad of catches() it writes over the frame of
 * _Unwind_Resume, which looks then as if catches() had called it: one that unwinds from there goes astray in the
 * frame of cleans(), which is all 0. Prints how many cleanups were run.
 */
#include <cstdio>
#include <cstring>

#include "program.h"

static volatile int cleanups;

struct guard {
    KNOWN ~guard();
};

KNOWN guard::~guard()
{
    cleanups = cleanups + 1;
}

KNOWN static void throws(volatile char *bytes)
{
    if (!bytes[0])
        throw 1;
}

KNOWN static void cleans()
{
    guard cleanup;
    char zeros[4096];
    memset(zeros, 0, sizeof zeros);
    throws(zeros);
    CALLED();
}

/* Its frame is smaller than that of cleans(), so that it would end among the zeros. */
KNOWN static void catches()
{
    volatile char room[512];
    room[0] = 1;
    try {
        cleans();
    } catch (int) {
        room[0] = 2;
    }
    CALLED();
}

int main()
{
    for (int i = 0; i < 4; i++)
        catches();
    std::printf("%d cleanups\n", cleanups);
    return 0;
}
