/*
 * storm.c - four threads allocate and free, a timer's signals run through checks, and children are made in all ways meanwhile. Prints how many of
 * them failed, and whether there were signals: 0 1.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define KEPT    64u
#define APART   __attribute__((noinline))

static volatile sig_atomic_t over, ticks;

APART static void *some(size_t size)
{
    char *p = malloc(size);
    return p ? memset(p, (int)size, size) : NULL;
}

APART static void fill(size_t from, unsigned rounds)
{
    void *kept[KEPT] = {0};
    for (unsigned i = 0; i < rounds; i++) {
        void **at = &kept[(i * 7 + from) % KEPT], *moved;
        if (*at && i % 3 == 0 && (moved = realloc(*at, i % 500 + 1))) {
            *at = moved;
        } else {
            free(*at);
            *at = some(i % 300 + 1);
        }
    }
    for (unsigned i = 0; i < KEPT; i++)
        free(kept[i]);
}

static void *thread(void *from)
{
    while (!over) {
        fill((size_t)from, 1000);
        usleep(2000); /* the log is to last */
    }
    return NULL;
}

APART static void count(unsigned n)
{
    if (n == 0)
        return;
    ticks = 1;
    count(n - 1);
    __asm__ volatile("");
}

static void tick(int number)
{
    (void)number;
    count(5);
}

/* _Fork() asks no handler of pthread_atfork(). */
static pid_t make_child(int how)
{
    return how == 0 ? _Fork() : fork();
}

static void be_child(int how)
{
    if (how == 0)
        count(1000); /* the allocator's locks may be taken */
    else
        fill(1, 3000);
    if (how == 1)
        exit(0);
    _exit(0);
}

int main(void)
{
    pthread_t ids[THREADS];
    struct itimerval every = {{0, 700}, {0, 700}};
    int failed = 0;
    signal(SIGALRM, tick);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, thread, (void *)i) != 0)
            return 1;
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 60; i++) {
        int status = 0;
        pid_t pid = make_child(i % 3);
        if (pid == 0)
            be_child(i % 3);
        while (pid > 0 && waitpid(pid, &status, 0) < 0)
            ;
        failed += pid < 0 || status != 0;
        if (i % 10 == 0 && system("exit 3") != 3 << 8) /* by vfork() */
            failed++;
    }
    over = 1;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    printf("%d %d\n", failed, (int)ticks);
    return 0;
}
