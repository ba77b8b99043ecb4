/*
 * "storm [PROCESSES [MS]]": that many processes (200) that run at once, each a fork of the first one with MS
 * milliseconds (5) of work. Of the time, without the first process's:
 *
 *   50%  main brood even work
 *   50%  main brood odd work
 */
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static volatile char sink;

KNOWN static void work(unsigned ms)
{
    spin(ms);
}

/* Frames of sizes of their own, so that heights tell the paths apart, too. */
KNOWN static void even(unsigned ms)
{
    volatile char frame[72];
    frame[0] = sink;
    work(ms);
    sink = frame[0];
}

KNOWN static void odd(unsigned ms)
{
    volatile char frame[168];
    frame[0] = sink;
    work(ms);
    sink = frame[0];
}

KNOWN static void brood(unsigned processes, unsigned ms)
{
    for (unsigned i = 0; i < processes; i++) {
        if (fork() != 0)
            continue;
        if (i % 2)
            odd(ms);
        else
            even(ms);
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    unsigned processes = argc > 1 ? (unsigned)atoi(argv[1]) : 200,
             ms = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    brood(processes, ms);
    return 0;
}
