/*
 * "service [SECONDS]": runs until then (10) and can be attached to: it prints its PID, then all its time goes
 * to
 *
 *   80%  main loop busy            8 ms, then
 *   20%  main loop other           2 ms, and again
 *
 * with the time between them slept away. A second thread, "helper", does the same under assist.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "program.h"

static volatile char sink;

KNOWN static void busy(void)
{
    spin(8);
}

KNOWN static void other(void)
{
    spin(2);
}

KNOWN static void loop(time_t end)
{
    while (time(NULL) < end) {
        busy();
        other();
        usleep(500);
    }
    sink = 1;
}

KNOWN static void *assist(void *context)
{
    pthread_setname_np(pthread_self(), "helper");
    loop(*(time_t *)context);
    sink = 2;
    return NULL;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 10;
    time_t end = time(NULL) + seconds;
    pthread_t thread;
    if (pthread_create(&thread, NULL, assist, &end))
        abort();
    printf("%d\n", (int)getpid());
    fflush(stdout);
    loop(end);
    pthread_join(thread, NULL);
    return 0;
}
