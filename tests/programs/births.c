/*
 * "births [SECONDS]": prints its PID, then starts threads, one after the other, until then (10). Two that work at
 * once, and wait for each other, so that both have as much CPU time on a busy machine, too:
 *
 *   50%  start_thread elder busy             the whole time
 *   50%  start_thread worker busy            10 ms each
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "program.h"

#define TURN 10 /* ms */

static volatile char sink;
static volatile int ended;
static atomic_int due, done; /* ms of the elder's work */

KNOWN static void busy(unsigned ms)
{
    spin(ms);
}

KNOWN static void *elder(void *unused)
{
    while (!ended) {
        if (done == due) {
            usleep(200);
            continue;
        }
        busy(1);
        done++;
    }
    sink = 1;
    return unused;
}

KNOWN static void *worker(void *unused)
{
    busy(TURN);
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
        due += TURN;
        pthread_create(&young, NULL, worker, NULL);
        pthread_join(young, NULL);
        while (done < due)
            usleep(200);
    }
    ended = 1;
    pthread_join(old, NULL);
    return 0;
}
