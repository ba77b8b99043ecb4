/*
 * A child forked by a thread: it runs on a copy of the thread's stack, which begins with the thread's
 * function.
 *
 *   40%  main before
 *   20%  worker prepare
 *   40%  worker fork_one child         in the child, whose TID is its PID
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

KNOWN static void child(void)
{
    spin(300);
}

KNOWN static void fork_one(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        child();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

KNOWN static void prepare(void)
{
    spin(150);
}

KNOWN static void *worker(void *argument)
{
    prepare();
    fork_one();
    CALLED();
    return argument;
}

KNOWN static void before(void)
{
    spin(300);
}

int main(void)
{
    pthread_t thread;
    before();
    if (pthread_create(&thread, NULL, worker, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
