/* nodes.c - a list whose nodes are allocated among other things, by two callers, and walked by two others; and an array of a file. */
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noipa))

struct node {
    struct node *next;
    long value, unused[4];
};

static struct node *list;
static long numbers[32];

KEPT static struct node *make_node(struct node *next, long value)
{
    struct node *n = malloc(sizeof *n);
    void *other = malloc(200); /* it stays, so that nodes are not side by side */
    if (!n || !other)
        abort();
    *n = (struct node){.next = next, .value = value};
    return n;
}

KEPT static void make_even(long i)
{
    list = make_node(list, i);
}
KEPT static void make_odd(long i)
{
    list = make_node(list, i);
}

KEPT static long walk(const struct node *n)
{
    long sum = 0;
    for (; n; n = n->next)
        sum += n->value;
    return sum;
}

KEPT static long often(void)
{
    return walk(list);
}
KEPT static long seldom(void)
{
    return walk(list) + 1;
}

KEPT static long add_numbers(long by)
{
    long sum = 0;
    for (int i = 0; i < 32; i++)
        sum += numbers[(i * 7) % 32] += by;
    return sum;
}

int main(int argc, char **argv)
{
    long sum = 0, rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    for (long i = 0; i < 24; i++)
        i % 2 ? make_odd(i) : make_even(i);
    for (long i = 0; i < rounds; i++)
        sum += i % 4 ? often() : seldom() + add_numbers(i);
    return printf("%ld\n", sum) < 0;
}
