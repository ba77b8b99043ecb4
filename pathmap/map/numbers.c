/* numbers.c - see numbers.h. */
#include "pathmap/map/numbers.h"

#include <stdlib.h>
#include <string.h>

static bool numbers_allocate(struct numbers *n, size_t capacity)
{
    struct number_slot *slots = malloc(capacity * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xff, capacity * sizeof *slots);
    *n = (struct numbers){slots, capacity, 0};
    return true;
}

static void numbers_insert(struct numbers *n, struct number_slot slot)
{
    size_t i = slot.hash & (n->capacity - 1);
    while (n->slots[i].number != NUMBERS_NONE)
        i = (i + 1) & (n->capacity - 1);
    n->slots[i] = slot;
    n->count++;
}

bool numbers_init(struct numbers *n)
{
    return numbers_allocate(n, 16);
}

void numbers_clear(struct numbers *n)
{
    free(n->slots);
    *n = (struct numbers){0};
}

bool numbers_put(struct numbers *n, uint32_t hash, uint32_t number)
{
    if ((n->count + 1) * 4 > n->capacity * 3) {
        struct numbers bigger;
        if (!numbers_allocate(&bigger, n->capacity * 2))
            return false;
        for (size_t i = 0; i < n->capacity; i++) {
            if (n->slots[i].number != NUMBERS_NONE)
                numbers_insert(&bigger, n->slots[i]);
        }
        numbers_clear(n);
        *n = bigger;
    }
    numbers_insert(n, (struct number_slot){hash, number});
    return true;
}
