/* case_threads.c - the ways in which a thread ends, and who makes calls then. */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "tests/probe/cases/cases.h"

static pthread_key_t key;
static volatile int alive = 1;

KNOWN void leaf(void)
{
    CALLED();
}

KNOWN void clean(void *unused)
{
    (void)unused;
    leaf();
    CALLED();
}

KNOWN void forget(void *unused)
{
    (void)unused;
    leaf();
    CALLED();
}

KNOWN void *returns(void *unused)
{
    leaf();
    witness();
    pthread_setspecific(key, &key);
    return unused;
}

KNOWN void quit(int depth)
{
    if (depth)
        quit(depth - 1);
    else if (alive)
        pthread_exit(NULL);
    CALLED();
}

KNOWN void *quits(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    quit(2);
    pthread_cleanup_pop(0);
    return unused;
}

KNOWN void await_the_end(int depth)
{
    if (depth)
        await_the_end(depth - 1);
    while (alive)
        pause();
    CALLED();
}

KNOWN void *cancelled(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    pthread_setspecific(key, &key);
    await_the_end(2);
    pthread_cleanup_pop(0);
    return unused;
}

KNOWN void join(pthread_t id)
{
    pthread_join(id, NULL);
    CALLED();
}

int run_ends(const char *argument)
{
    (void)argument;
    pthread_t id;
    pthread_key_create(&key, forget);
    for (int i = 0; i < 2; i++) {
        pthread_create(&id, NULL, returns, NULL);
        join(id);
        pthread_create(&id, NULL, quits, NULL);
        join(id);
        pthread_create(&id, NULL, cancelled, NULL);
        usleep(20000);
        pthread_cancel(id);
        join(id);
    }
    return 0;
}

/* One after the other and side by side, on stacks that are used again. */
KNOWN void *brief(void *unused)
{
    leaf();
    CALLED();
    return unused;
}

int run_many(const char *argument)
{
    (void)argument;
    pthread_t ids[20];
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 20; i++)
            pthread_create(&ids[i], NULL, brief, NULL);
        for (int i = 0; i < 20; i++)
            join(ids[i]);
    }
    return 0;
}

/* The main thread ends first; the other one goes on. */
static pthread_t main_thread;

KNOWN void *last(void *unused)
{
    join(main_thread);
    leaf();
    CALLED();
    return unused;
}

int run_main_first(const char *argument)
{
    (void)argument;
    pthread_t id;
    main_thread = pthread_self();
    pthread_create(&id, NULL, last, NULL);
    quit(1);
    return 1;
}

const struct known_case cases[] = {
    {"ends", run_ends},
    {"many", run_many},
    {"main-first", run_main_first},
    {0},
};
