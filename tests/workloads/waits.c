/*
 * waits.c - threads that wait, each in a function of its own, and how long: prints "FUNCTION NANOSECONDS" of each, from its call to its return, "threads NANOSECONDS" for all that its threads
 * lived, "cpu NANOSECONDS" for what they ran, and "child PID" of processes that it started. With "block" it waits without end, in three threads in locks() and in one in sleeps(); with "rounds N" two threads wake each other
 * N times, in hears() alone.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int there[2], back[2];
static uint64_t lived; /* ns, of threads that have ended */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void nap(unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* Each waits below its own name. */
#define WAITS(name, ...) __attribute__((noinline)) static void name(__VA_ARGS__)
WAITS(sleeps, unsigned ms)
{
    nap(ms);
    __asm__ volatile("");
}
WAITS(polls, int ms)
{
    poll(NULL, 0, ms);
    __asm__ volatile("");
}
WAITS(locks, void)
{
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    __asm__ volatile("");
}
WAITS(hears, int fd)
{
    char c;
    if (read(fd, &c, 1) != 1)
        exit(1);
    __asm__ volatile("");
}
WAITS(children, pid_t pid)
{
    waitpid(pid, NULL, 0);
    __asm__ volatile("");
}
WAITS(stops, void)
{
    raise(SIGSTOP);
    __asm__ volatile("");
}

static void says(int fd)
{
    if (write(fd, "a", 1) != 1)
        exit(1);
}

static void *locker(void *began)
{
    const uint64_t before = now();
    locks();
    printf("locks %llu\n", (unsigned long long)(now() - before));
    __atomic_fetch_add(&lived, now() - *(uint64_t *)began, __ATOMIC_RELAXED);
    return NULL;
}

static void *speaker(void *rounds)
{
    const uint64_t began = now();
    for (unsigned i = 0; i < *(unsigned *)rounds; i++) {
        hears(there[0]);
        says(back[1]);
    }
    __atomic_fetch_add(&lived, now() - began, __ATOMIC_RELAXED);
    return NULL;
}

static pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument) != 0)
        exit(1);
    return thread;
}

static void block(void)
{
    static uint64_t began;
    began = now();
    pthread_mutex_lock(&held);
    for (int i = 0; i < 3; i++)
        start(locker, &began);
    fclose(fopen("ready", "w"));
    sleeps(3600000);
}

static void talk(unsigned rounds)
{
    pthread_t other = start(speaker, &rounds);
    for (unsigned i = 0; i < rounds; i++) {
        says(there[1]);
        hears(back[0]);
    }
    pthread_join(other, NULL);
}

#define TIMED(name, call)                                                                                    \
    do {                                                                                                     \
        const uint64_t before = now();                                                                       \
        call;                                                                                                \
        printf("%s %llu\n", name, (unsigned long long)(now() - before));                                     \
    } while (0)

static void hold(uint64_t *began)
{
    pthread_t thread;
    pthread_mutex_lock(&held);
    *began = now();
    thread = start(locker, began);
    nap(200);
    pthread_mutex_unlock(&held);
    pthread_join(thread, NULL);
}

/* A child that lets this process go on 200 ms later. */
static pid_t wake_later(void)
{
    const pid_t self = getpid(), child = fork();
    if (child == 0) {
        nap(200);
        kill(self, SIGCONT);
        _exit(0);
    }
    return child;
}

static void each(void)
{
    static uint64_t began;
    for (int i = 0; i < 5; i++)
        TIMED("sleeps", sleeps(50));
    TIMED("polls", polls(250));
    hold(&began);
    pid_t child = fork();
    if (child == 0) {
        nap(200);
        _exit(0);
    }
    printf("child %d\n", (int)child);
    TIMED("children", children(child));
    child = wake_later();
    printf("child %d\n", (int)child);
    TIMED("stops", stops());
    waitpid(child, NULL, 0);
}

int main(int count, char **arguments)
{
    const uint64_t began = now();
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    if (count > 1 && strcmp(arguments[1], "block") == 0)
        block();
    else if (count > 2)
        talk((unsigned)atoi(arguments[2]));
    else
        each();
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    const uint64_t cpu = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u +
                         (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
    printf("threads %llu\ncpu %llu\n", (unsigned long long)(now() - began + lived), (unsigned long long)cpu);
    return 0;
}
