/* What a function calls by its lower orders: known answers. */
#include <criterion/criterion.h>

#include "infer/model/backoff.h"

#define EPS 1e-12

Test(backoff, a_transition_never_seen_has_the_least)
{
    struct backoff *b = backoff_new();
    uint32_t t = backoff_transition(b, 1, 2, 3);
    cr_expect_eq(backoff_transition(b, 1, 2, 3), t);
    cr_expect_neq(backoff_transition(b, 1, 2, BACKOFF_STOP), t);
    cr_expect_float_eq(backoff_chance(b, t), BACKOFF_NEVER, EPS);
    backoff_free(b);
}

Test(backoff, counts_contexts_in_both_orders)
{
    struct backoff *b = backoff_new();
    uint32_t t = backoff_transition(b, 1, 2, 3), other = backoff_transition(b, 9, 2, 4),
             unseen = backoff_transition(b, 9, 2, 3);
    backoff_add(b, t, 1);
    double lower = (1 + BACKOFF_NEVER) / 2; /* one context of 2, with one kind */
    cr_expect_float_eq(backoff_chance(b, t), (1 + lower) / 2, EPS);
    backoff_add(b, other, 1);
    lower = (1 + 2 * BACKOFF_NEVER) / 4; /* two, with two kinds */
    cr_expect_float_eq(backoff_chance(b, t), (1 + lower) / 2, EPS);
    cr_expect_float_eq(backoff_chance(b, unseen), (0 + lower) / 2, EPS, "9 2 calls 4 alone");
    /* a second context of the same two: the lower order counts them once */
    backoff_add(b, t, 1);
    cr_expect_float_eq(backoff_chance(b, t), (2 + lower) / 3, EPS);
    cr_expect_float_eq(backoff_chance(b, unseen), (0 + lower) / 2, EPS);
    backoff_add(b, t, -1);
    cr_expect_float_eq(backoff_chance(b, t), (1 + lower) / 2, EPS);
    backoff_free(b);
}

Test(backoff, a_fraction_of_a_count_is_a_fraction_of_a_kind)
{
    struct backoff *b = backoff_new();
    uint32_t t = backoff_transition(b, 1, 2, 3);
    backoff_add(b, t, 0.5);
    double lower = (0.5 + 0.5 * BACKOFF_NEVER) / 1;
    cr_expect_float_eq(backoff_chance(b, t), (0.5 + 0.5 * lower) / 1, EPS);
    cr_expect_eq(backoff_kind(0.5), 0.5);
    cr_expect_eq(backoff_kind(7), 1);
    cr_expect_eq(backoff_kind(-1e-12), 0);
    backoff_free(b);
}
