/* walk.c - walks a list in an order that it prints, and the sum of its walks: walk NODES ROUNDS [THREADS]. */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    uint64_t value;
};

static struct node *list;
static unsigned rounds;

/* It refers to nothing but the nodes. */
__attribute__((noinline)) static uint64_t walk(const struct node *n)
{
    uint64_t sum = 0;
    for (; n; n = n->next)
        sum += n->value;
    return sum;
}

static void *repeat(void *sum)
{
    for (unsigned i = 0; i < rounds; i++)
        *(uint64_t *)sum += walk(list);
    return NULL;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    struct node *nodes = calloc(count + 1, sizeof *nodes);
    uint64_t sum = 0, sums[64] = {0};
    pthread_t ids[64];
    for (size_t i = 0; i < count; i++) { /* each 7919th, as prime as the number of nodes is */
        struct node *n = &nodes[i * 7919 % count];
        n->value = i;
        n->next = i + 1 < count ? &nodes[(i + 1) * 7919 % count] : NULL;
    }
    list = count ? nodes : NULL;
    for (const struct node *n = list; n; n = n->next)
        printf("%" PRIxPTR "\n", (uintptr_t)n);
    for (unsigned t = 0; t < threads && t < 64; t++)
        if (pthread_create(&ids[t], NULL, repeat, &sums[t]) != 0)
            return 1;
    repeat(&sum);
    for (unsigned t = 0; t < threads && t < 64; t++) {
        pthread_join(ids[t], NULL);
        if (sums[t] != sum)
            return 1;
    }
    printf("%" PRIu64 "\n", sum);
    free(nodes);
    return 0;
}
