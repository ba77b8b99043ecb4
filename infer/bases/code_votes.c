/* code_votes.c - see code_votes.h. */
#include "infer/bases/code_votes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/sort.h"
#include "infer/bases/shared_positions.h"

#define ALIGNMENT 16u /* bytes: the kernel aligns SP to it at a program's start (x86-64 psABI, 3.4.1) */
#define REACH     (8u << 20) /* bytes below a base: the default limit of a stack */
#define VOTES_MAX (1u << 22) /* per stack */

struct code_votes {
    struct position_table positions;
    struct table *bases; /* stack -> base */
};

struct code_votes *code_votes_new(void)
{
    struct code_votes *v =
        allocate(struct code_votes, .positions = {.index = table_new(), .most = CODE_VOTES_POSITIONS},
                 .bases = table_new());
    return whole_or_free(v, v->positions.index && v->bases, code_votes_free);
}

void code_votes_free(struct code_votes *v)
{
    if (!v)
        return;
    position_table_clear(&v->positions);
    table_free(v->bases);
    free(v);
}

int code_votes_add(struct code_votes *v, uint32_t stack, uint32_t function, uint64_t cfa)
{
    return position_table_note(&v->positions, stack, function, cfa, 0);
}

/* How many samples must lie within reach below a base, and how many voters must fit it. */
static uint64_t most_of(uint64_t all)
{
    return all * 9 / 10;
}

/* The positions of one stack and their votes. */
struct election {
    const struct position *positions;
    size_t count;
    uint64_t *bases; /* one for each vote */
    size_t votes, voters;
};

/* 0 or -ENOMEM. */
static int cast_votes(struct election *e, struct code_heights *heights)
{
    size_t most = e->count * CODE_HEIGHTS_MAX < VOTES_MAX ? e->count * CODE_HEIGHTS_MAX : VOTES_MAX;
    e->bases = malloc((most + 1) * sizeof *e->bases);
    if (!e->bases)
        return -ENOMEM;
    for (size_t i = 0; i < e->count; i++) {
        const uint32_t *list;
        int known = code_heights_of(heights, e->positions[i].function, &list);
        if (known < 0)
            return known;
        e->voters += known > 0;
        for (int k = 0; k < known && e->votes < most; k++) {
            uint64_t base;
            if (!__builtin_add_overflow(e->positions[i].cfa, list[k], &base) && base % ALIGNMENT == 0)
                e->bases[e->votes++] = base;
        }
    }
    sort_numbers(e->bases, e->votes);
    return 0;
}

/* The base with the most votes, and the number of votes for it and the runner-up. 0: none. */
static uint64_t count_votes(const struct election *e, size_t *best, size_t *second)
{
    uint64_t winner = 0;
    *best = *second = 0;
    for (size_t i = 0, next; i < e->votes; i = next) {
        for (next = i; next < e->votes && e->bases[next] == e->bases[i]; next++)
            ;
        size_t fits = next - i;
        if (fits > *best) {
            *second = *best;
            *best = fits;
            winner = e->bases[i];
        } else if (fits > *second) {
            *second = fits;
        }
    }
    return winner;
}

/* Whether nearly all samples lie within reach below the base. */
static bool covers_samples(const struct election *e, uint64_t base)
{
    uint64_t inside = 0, all = 0;
    for (size_t i = 0; i < e->count; i++) {
        all += e->positions[i].samples;
        inside +=
            e->positions[i].cfa <= base && base - e->positions[i].cfa < REACH ? e->positions[i].samples : 0;
    }
    return inside >= most_of(all);
}

/* The winning base; 0: none. */
static uint64_t winner_of(const struct election *e)
{
    size_t best, second;
    uint64_t base = count_votes(e, &best, &second);
    /* The positions that do not fit the winner may be the correct ones: even with all their votes the runner-up must stay
     * behind. */
    size_t against = e->voters - best;
    return base && best >= most_of(e->voters) && best - second > against && covers_samples(e, base) ? base
                                                                                                    : 0;
}

int code_votes_settle(struct code_votes *v, struct code_heights *heights, uint64_t *won)
{
    int rc = 0;
    *won = 0;
    const struct position_table *t = &v->positions;
    position_table_sort(&v->positions);
    for (size_t i = 0, next; rc == 0 && i < t->count; i = next) {
        for (next = i; next < t->count && t->at[next].owner == t->at[i].owner; next++)
            ;
        struct election e = {.positions = t->at + i, .count = next - i};
        rc = cast_votes(&e, heights);
        uint64_t base = rc == 0 ? winner_of(&e) : 0;
        if (base && table_set(v->bases, t->at[i].owner, base))
            ++*won;
        else if (base)
            rc = -ENOMEM;
        free(e.bases);
    }
    return rc;
}

bool code_votes_base(const struct code_votes *v, uint32_t stack, uint64_t *base)
{
    const uint64_t *value = table_find(v->bases, stack);
    if (value)
        *base = *value;
    return value;
}
