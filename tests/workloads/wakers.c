/*
 * wakers.c - waits that another thread ends, each below a function of its own, as its end is: prints "WAIT WAKER NANOSECONDS" of each, from the call to its return. With "listen FIFO" it waits for what another
 * process writes there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LASTS 60 /* ms: each wait */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static sem_t first, second, third;
static int told, ends[2];
static pthread_t self;
static volatile sig_atomic_t signalled;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void nap(void)
{
    struct timespec t = {0, LASTS * 1000000L};
    nanosleep(&t, NULL);
}

/* Below its own name, and not by a tail call, nor as another function with the same code. */
#define NAMED(name, ...)                                                                                     \
    __attribute__((noinline)) static void name(void)                                                         \
    {                                                                                                        \
        __VA_ARGS__;                                                                                         \
        __asm__ volatile("# " #name);                                                                        \
    }

NAMED(waits_for_news, pthread_mutex_lock(&guard); while (!told) pthread_cond_wait(&news, &guard);
      pthread_mutex_unlock(&guard))
NAMED(brings_news, pthread_mutex_lock(&guard); told = 1; pthread_cond_signal(&news);
      pthread_mutex_unlock(&guard))
NAMED(locks, pthread_mutex_lock(&held); pthread_mutex_unlock(&held))
NAMED(unlocks, pthread_mutex_unlock(&held))
NAMED(hears, char c; if (read(ends[0], &c, 1) != 1) exit(1))
NAMED(says, if (write(ends[1], "a", 1) != 1) exit(1))
NAMED(watches, struct pollfd p = {.fd = ends[0], .events = POLLIN}; poll(&p, 1, -1))
NAMED(writes, if (write(ends[1], "b", 1) != 1) exit(1))
NAMED(takes, sem_wait(&third))
NAMED(gives, sem_post(&third))
NAMED(pauses, while (!signalled) usleep(10000000))
NAMED(kills, pthread_kill(self, SIGUSR1))
NAMED(sleeps, nap())
NAMED(nothing, )

static void note(int signal)
{
    (void)signal;
    signalled = 1;
}

struct stage {
    const char *names;
    void (*wait)(void), (*wake)(void);
};

static void *wake(void *stage)
{
    if (((struct stage *)stage)->wake == unlocks)
        pthread_mutex_lock(&held);
    sem_post(&first);
    nap();
    ((struct stage *)stage)->wake();
    return NULL;
}

static void run(struct stage *stage)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wake, stage) != 0)
        exit(1);
    sem_wait(&first);
    const uint64_t before = now();
    stage->wait();
    printf("%s %llu\n", stage->names, (unsigned long long)(now() - before));
    pthread_join(thread, NULL);
}

/* A chain: relays() waits for starts(), and then wakes last_waits(). */
NAMED(starts, sem_post(&second))
NAMED(relays, sem_wait(&second))
NAMED(passes_on, sem_post(&third))
NAMED(last_waits, sem_wait(&third))

static void *relay(void *unused)
{
    relays();
    passes_on();
    return unused;
}

static void chain(void)
{
    static struct stage stage = {"last_waits passes_on", last_waits, starts};
    pthread_t thread;
    if (pthread_create(&thread, NULL, relay, NULL) != 0)
        exit(1);
    run(&stage);
    pthread_join(thread, NULL);
}

__attribute__((noinline)) static void joins(pthread_t thread)
{
    pthread_join(thread, NULL);
    __asm__ volatile("");
}

__attribute__((noinline)) static void awaits(pid_t child)
{
    waitpid(child, NULL, 0);
    __asm__ volatile("");
}

static void *nap_and_end(void *unused)
{
    nap();
    return unused;
}

NAMED(leaves, _exit(0))

int main(int argc, char **argv)
{
    static struct stage stages[] = {
        {"waits_for_news brings_news", waits_for_news, brings_news},
        {"locks unlocks", locks, unlocks},
        {"hears says", hears, says},
        {"watches writes", watches, writes},
        {"takes gives", takes, gives},
        {"pauses kills", pauses, kills},
        {"sleeps timer", sleeps, nothing},
    };
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 2) {
        ends[0] = open(argv[2], O_RDONLY);
        hears();
        return 0;
    }
    if (pipe(ends) != 0 || sem_init(&first, 0, 0) != 0 || sem_init(&second, 0, 0) != 0 ||
        sem_init(&third, 0, 0) != 0 || signal(SIGUSR1, note) == SIG_ERR)
        return 1;
    self = pthread_self();
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        run(&stages[i]);
    chain();
    pthread_t thread;
    if (pthread_create(&thread, NULL, nap_and_end, NULL) != 0)
        return 1;
    uint64_t before = now();
    joins(thread);
    printf("joins start_thread %llu\n", (unsigned long long)(now() - before));
    before = now();
    const pid_t child = fork();
    if (child == 0) {
        nap();
        leaves();
    }
    awaits(child);
    printf("awaits leaves %llu\n", (unsigned long long)(now() - before));
    return 0;
}
