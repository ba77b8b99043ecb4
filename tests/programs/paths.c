/*
 * "paths PAUSE [ROUNDS]": calls getppid() by 256 paths, of `left` and `right` eight times below main, whose stacks are all of another
 * size; in each round by each path once, after a first call and PAUSE milliseconds. Between two calls it sleeps for a moment.
 */
#include <alloca.h>
#include <unistd.h>

#include "program.h"

#define DEPTH 8u

static volatile char sink;

KNOWN static void left(unsigned path, unsigned depth);
KNOWN static void right(unsigned path, unsigned depth);

__attribute__((always_inline)) static inline void go_on(unsigned path, unsigned depth)
{
    if (depth == DEPTH)
        getppid();
    else if (path >> depth & 1)
        right(path, depth + 1);
    else
        left(path, depth + 1);
    CALLED();
}

KNOWN static void left(unsigned path, unsigned depth)
{
    go_on(path, depth);
}

KNOWN static void right(unsigned path, unsigned depth)
{
    volatile char *room = alloca(8u << depth);
    room[0] = 1;
    go_on(path, depth);
    sink = room[0];
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    getppid();
    const long pause = atol(argv[1]);
    nanosleep(&(struct timespec){pause / 1000, pause % 1000 * 1000000}, NULL);
    for (int rounds = argc > 2 ? atoi(argv[2]) : 10; rounds > 0; rounds--)
        for (unsigned path = 0; path < 1u << DEPTH; path++) {
            go_on(path, 0);
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
    return 0;
}
