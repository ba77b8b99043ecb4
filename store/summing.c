/* summing.c - see summing.h. */
#include "store/summing.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/vec.h"

#define NONE UINT32_MAX

struct sum {
    uint64_t context, count, weight;
    uint32_t next; /* next sum of this context, with another certainty; or NONE */
    enum certainty certainty;
    unsigned __int128 right; /* of the weight, in 255ths */
};

struct summing {
    struct table *first; /* context -> its first sum, plus 1 */
    struct sum *sums;
    uint32_t count, capacity;
    struct store_entry *taken;
    size_t taken_capacity;
};

struct summing *summing_new(void)
{
    struct summing *s = calloc(1, sizeof *s);
    if (s && !(s->first = table_new())) {
        free(s);
        s = NULL;
    }
    return s;
}

void summing_free(struct summing *s)
{
    if (!s)
        return;
    table_free(s->first);
    free(s->sums);
    free(s->taken);
    free(s);
}

/* NULL: out of memory. */
static struct sum *sum_of(struct summing *s, uint64_t context, enum certainty certainty)
{
    uint64_t *first = table_put(s->first, context, NULL);
    if (!first)
        return NULL;
    for (uint32_t i = (uint32_t)*first - 1; i != NONE; i = s->sums[i].next)
        if (s->sums[i].certainty == certainty)
            return &s->sums[i];
    const struct sum empty = {.context = context, .next = (uint32_t)*first - 1, .certainty = certainty};
    if (s->count == NONE - 1 || !vec_push(s->sums, s->count, s->capacity, empty))
        return NULL;
    *first = s->count;
    return &s->sums[s->count - 1];
}

int summing_add(struct summing *s, const struct store_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct store_entry *e = &entries[i];
        struct sum *sum = sum_of(s, e->context, certainty_in(e->sure));
        if (!sum)
            return -ENOMEM;
        sum->count = add_saturating(sum->count, e->count);
        sum->weight = add_saturating(sum->weight, e->weight);
        sum->right += right_of(e);
    }
    return 0;
}

void summing_rate(struct store_entry *e, enum certainty certainty, unsigned __int128 right)
{
    const unsigned __int128 sure = e->weight ? right / e->weight : 1;
    e->rest = 0;
    e->sure = certainty == CERTAINTY_PROVED ? STORE_PROVED : STORE_UNKNOWN;
    if (certainty != CERTAINTY_INFERRED)
        return;
    e->sure = sure < 1 ? 1 : sure > STORE_SURE_MOST ? STORE_SURE_MOST : (uint8_t)sure;
    if (e->sure == sure && e->weight) /* false if a sum saturated */
        e->rest = (uint64_t)(right % e->weight);
}

/* By certainty, where contexts are the same. */
static void order_entries(struct store_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t at = i; at && entries[at - 1].context == entries[at].context &&
                            certainty_in(entries[at - 1].sure) > certainty_in(entries[at].sure);
             at--) {
            const struct store_entry other = entries[at];
            entries[at] = entries[at - 1];
            entries[at - 1] = other;
        }
}

struct store_entry *summing_take(struct summing *s, size_t *count)
{
    struct table *first = table_new();
    if (!first || !vec_reserve(s->taken, 0, s->taken_capacity, (size_t)s->count + 1)) {
        table_free(first);
        return NULL;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sum *sum = &s->sums[i];
        s->taken[i] =
            (struct store_entry){.context = sum->context, .count = sum->count, .weight = sum->weight};
        summing_rate(&s->taken[i], sum->certainty, sum->right);
    }
    *count = s->count;
    sort_by(s->taken, s->count, context);
    order_entries(s->taken, s->count);
    table_free(s->first);
    s->first = first;
    s->count = 0;
    return s->taken;
}
