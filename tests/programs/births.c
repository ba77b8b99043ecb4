/*
 * "births [SECONDS]": prints its PID, then starts threads, one after the other, until then (10). Two that work at
 * once:
 *
 *   50%  start_thread elder busy             the whole time
 *   50%  start_thread worker busy            10 ms each
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "program.h"

static volatile char sink;
static volatile int ended;

KNOWN static void busy(unsigned ms)
{
    spin(ms);
}

KNOWN static void *elder(void *unused)
{
    while (!ended)
        busy(1);
    sink = 1;
    return unused;
}

KNOWN static void *worker(void *unused)
{
    busy(10);
    sink = 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t old, young;
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    pthread_create(&old, NULL, elder, NULL);
    while (time(NULL) < end) {
        pthread_create(&young, NULL, worker, NULL);
        pthread_join(young, NULL);
    }
    ended = 1;
    pthread_join(old, NULL);
    return 0;
}
