/*
 * "bursts [N]": N children (2000), one after the other, each of which ends after 100 us of work, less than a
 * sampling period. At the end the parent prints the CPU time of them all in microseconds, that of the kernel
 * included.
 *
 *   main burst        nearly all of the time in user space
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static volatile unsigned sink;

KNOWN static void burst(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        sink += i;
}

/* How many rounds take 100 us of this CPU. */
static unsigned calibrate(void)
{
    unsigned rounds = 1000;
    for (;; rounds *= 2) {
        uint64_t before = thread_ns();
        burst(rounds);
        uint64_t took = thread_ns() - before;
        if (took > 1000000)
            return (unsigned)(rounds * UINT64_C(100000) / took);
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 2000;
    unsigned rounds = calibrate();
    for (int i = 0; i < count; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            burst(rounds);
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            return 1;
    }
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%lld\n", (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec +
                         usage.ru_stime.tv_usec);
    return 0;
}
