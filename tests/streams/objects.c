/*
 * objects.c - walks a list whose nodes were made by make_node(), called by grow(), through two callers, left() and right():
 * objects [come | fork | thread | kill].
 *
 *     come    after it has made and freed objects of 24 bytes
 *     fork    in a child as well, which has freed every second node
 *     thread  in four threads as well
 *     kill    until it is killed
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES  500
#define ROUNDS 200
#define APART  __attribute__((noinline))

struct node {
    struct node *next;
    uint64_t value;
    char rest[40];
};

static struct node *list;

APART static struct node *make_node(struct node *next, uint64_t value)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        exit(1);
    n->next = next;
    n->value = value;
    return n;
}

APART static void grow(void)
{
    for (uint64_t i = 0; i < NODES; i++)
        list = make_node(list, i);
    __asm__ volatile("");
}

/* All of them at the same address, presumably. */
APART static uint64_t come_and_go(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 2 * NODES; i++) {
        volatile uint64_t *p = malloc(3 * sizeof *p);
        if (!p)
            exit(1);
        p[0] = i;
        p[2] = i + 1;
        sum += p[0] * p[2];
        free((void *)p);
    }
    return sum;
}

APART static void thin_out(void)
{
    for (struct node *n = list; n && n->next; n = n->next) {
        struct node *freed = n->next;
        n->next = freed->next;
        free(freed);
    }
    __asm__ volatile("");
}

APART static uint64_t walk(void)
{
    uint64_t sum = 0;
    for (const struct node *n = list; n; n = n->next)
        sum += n->value;
    return sum;
}

APART static uint64_t left(void)
{
    return walk() + 1;
}

APART static uint64_t right(void)
{
    return walk() + 2;
}

APART static uint64_t both(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        sum += left() * right();
    return sum;
}

static void *in_thread(void *sum)
{
    *(uint64_t *)sum = both();
    return NULL;
}

static int with_threads(void)
{
    pthread_t ids[4];
    uint64_t sums[4];
    for (unsigned t = 0; t < 4; t++)
        if (pthread_create(&ids[t], NULL, in_thread, &sums[t]) != 0)
            return 1;
    for (unsigned t = 0; t < 4; t++)
        pthread_join(ids[t], NULL);
    return sums[0] != sums[3];
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int status = 0;
    grow();
    uint64_t sum = both();
    if (strcmp(mode, "thread") == 0)
        status = with_threads();
    if (strcmp(mode, "come") == 0)
        sum += come_and_go();
    while (strcmp(mode, "kill") == 0)
        sum += both();
    fflush(stdout);
    if (strcmp(mode, "fork") == 0 && fork() == 0) {
        thin_out();
        sum = both();
    }
    while (wait(NULL) > 0)
        ;
    printf("%llu\n", (unsigned long long)sum);
    return status;
}
