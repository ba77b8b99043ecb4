/*
 * desk.c - a shop's desk: four clerks serve customers. Each order is priced, written into the ledger, and confirmed by a letter. A
 * clerk waits for the ledger most of the time, and the letters are never thrown away: docs/waiting.md finds both.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLERKS 4
#define ORDERS 150 /* of each */
#define LETTER 50000

struct letter {
    struct letter *next;
    char text[LETTER];
};

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outbox_lock = PTHREAD_MUTEX_INITIALIZER;
static struct letter *outbox;
static volatile long total;

/* What a page of the ledger takes to be on disk. */
__attribute__((noinline)) static void write_page(void)
{
    usleep(1500);
    __asm__ volatile("");
}

__attribute__((noinline)) static long price_of(long order)
{
    char *list = malloc(100000);
    memset(list, (int)order, 100000);
    long price = 0;
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < 100000; i++)
            price += list[i] ^ round;
    free(list);
    return price;
}

__attribute__((noinline)) static void enter(long price)
{
    pthread_mutex_lock(&ledger);
    total += price;
    write_page();
    pthread_mutex_unlock(&ledger);
}

__attribute__((noinline)) static void confirm(long order, long price)
{
    struct letter *letter = malloc(sizeof *letter);
    snprintf(letter->text, sizeof letter->text, "Order %ld costs %ld.", order, price);
    pthread_mutex_lock(&outbox_lock);
    letter->next = outbox;
    outbox = letter;
    pthread_mutex_unlock(&outbox_lock);
}

__attribute__((noinline)) static void serve(long order)
{
    const long price = price_of(order);
    enter(price);
    confirm(order, price);
}

static void *clerk(void *number)
{
    for (long i = 0; i < ORDERS; i++)
        serve((long)number * ORDERS + i);
    return NULL;
}

int main(void)
{
    pthread_t clerks[CLERKS];
    for (long i = 0; i < CLERKS; i++)
        pthread_create(&clerks[i], NULL, clerk, (void *)i);
    for (int i = 0; i < CLERKS; i++)
        pthread_join(clerks[i], NULL);
    printf("%ld\n", total);
    return 0;
}
