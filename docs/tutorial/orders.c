/* orders.c - adds up what each customer of a shop ordered: docs/streams.md goes from its hot streams to a faster program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noipa)) /* paths have the function, under its own name */

#define CUSTOMERS 600u
#define ORDERS    60000u
#define REPORTS   400u

struct order {
    struct order *next; /* the customer's one before */
    char *note;
    uint64_t cents;
    uint32_t day;
};

struct customer {
    struct order *orders;
    uint64_t cents;
};

static struct customer customers[CUSTOMERS];

static uint32_t random_number(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

KEPT static struct order *new_order(uint64_t cents, uint32_t day)
{
    struct order *o = malloc(sizeof *o);
    char note[64];
    snprintf(note, sizeof note, "order of day %u, to be delivered", day);
    *o = (struct order){.note = strdup(note), .cents = cents, .day = day};
    return o;
}

/* Orders come in as they come: from one customer, then from another. */
KEPT static void read_orders(void)
{
    for (uint32_t i = 0; i < ORDERS; i++) {
        struct customer *c = &customers[random_number() % CUSTOMERS];
        struct order *o = new_order(random_number() % 10000, i / 100);
        o->next = c->orders;
        c->orders = o;
    }
}

#ifdef LAID_OUT
/* Each customer's orders one after another, as add_up() walks them. */
KEPT static void lay_out(void)
{
    struct order *at = malloc(ORDERS * sizeof *at);
    for (uint32_t i = 0; i < CUSTOMERS; i++)
        for (struct order **link = &customers[i].orders; *link; link = &at[-1].next) {
            struct order *old = *link;
            *at = *old;
            *link = at++;
            free(old);
        }
}
#endif

KEPT static uint64_t add_up(const struct customer *c, uint32_t from)
{
    uint64_t cents = 0;
    for (const struct order *o = c->orders; o; o = o->next)
        if (o->day >= from)
            cents += o->cents;
    return cents;
}

KEPT static uint64_t report(uint32_t from)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < CUSTOMERS; i++)
        all += customers[i].cents = add_up(&customers[i], from);
    return all;
}

int main(int argc, char **argv)
{
    uint32_t reports = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : REPORTS;
    read_orders();
#ifdef LAID_OUT
    lay_out();
#endif
    for (uint32_t i = 0; i < reports; i++)
        printf("from day %u on: %llu cents\n", i, (unsigned long long)report(i));
    return 0;
}
