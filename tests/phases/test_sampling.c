/* Which intervals the policies choose. */
#include <criterion/criterion.h>

#include "phases/sampling.h"

enum { INTERVALS = 280, SHARE = 28 };

/* The numbers of the chosen ones of one phase that is always predicted, from 0 on, and how many they are. */
static unsigned choose(const struct phase_sampling *s, uint32_t phase, uint32_t chosen[INTERVALS])
{
    struct phase_tally tally = {0};
    for (; tally.intervals < INTERVALS; tally.intervals++)
        if (phase_sampling_wants(s, phase, &tally))
            chosen[tally.profiled++] = tally.intervals;
    return tally.profiled;
}

Test(sampling, all_policies_take_as_many)
{
    uint32_t chosen[INTERVALS];
    for (enum phase_sampling_policy p = PHASE_SAMPLING_THIRD; p <= PHASE_SAMPLING_CHANCE; p++)
        for (uint64_t seed = 0; seed < 20; seed++)
            cr_expect_eq(choose(&(struct phase_sampling){p, SHARE, seed}, 1, chosen), INTERVALS / SHARE,
                         "policy %d, seed %llu", (int)p, (unsigned long long)seed);
}

Test(sampling, places)
{
    uint32_t chosen[INTERVALS];
    choose(&(struct phase_sampling){PHASE_SAMPLING_THIRD, SHARE, 1}, 1, chosen);
    cr_expect(chosen[0] == 2 && chosen[1] == SHARE && chosen[9] == 9 * SHARE);
    choose(&(struct phase_sampling){PHASE_SAMPLING_SECOND, SHARE, 1}, 1, chosen);
    cr_expect(chosen[0] == 1 && chosen[1] == SHARE);
    choose(&(struct phase_sampling){PHASE_SAMPLING_PERIODIC, SHARE, 1}, 1, chosen);
    for (unsigned i = 0; i < INTERVALS / SHARE; i++)
        cr_expect_eq(chosen[i], (i + 1) * SHARE - 1);
}

/* Each place of a share comes about equally often. */
static void expect_random(enum phase_sampling_policy policy)
{
    uint32_t chosen[INTERVALS];
    unsigned places[SHARE] = {0};
    for (uint32_t phase = 1; phase <= 1000; phase++) {
        choose(&(struct phase_sampling){policy, SHARE, 7}, phase, chosen);
        for (unsigned i = 1; i < INTERVALS / SHARE; i++) {
            cr_assert_eq(chosen[i] / SHARE, i, "one of each share");
            places[chosen[i] % SHARE]++;
        }
        if (policy == PHASE_SAMPLING_RANDOM)
            cr_expect(chosen[0] >= 1 && chosen[0] <= 3, "early");
    }
    for (unsigned i = 0; i < SHARE; i++)
        cr_expect(places[i] > 200 && places[i] < 450, "place %u: %u of 9000", i, places[i]);
}

Test(sampling, at_random)
{
    expect_random(PHASE_SAMPLING_RANDOM);
    expect_random(PHASE_SAMPLING_CHANCE);
}

Test(sampling, seeds_differ)
{
    uint32_t one[INTERVALS], other[INTERVALS];
    unsigned alike = 0;
    choose(&(struct phase_sampling){PHASE_SAMPLING_CHANCE, SHARE, 1}, 1, one);
    choose(&(struct phase_sampling){PHASE_SAMPLING_CHANCE, SHARE, 2}, 1, other);
    for (unsigned i = 0; i < INTERVALS / SHARE; i++)
        alike += one[i] == other[i];
    cr_expect_lt(alike, 5);
}

Test(sampling, what_was_missed_is_made_up_for)
{
    for (enum phase_sampling_policy p = PHASE_SAMPLING_THIRD; p <= PHASE_SAMPLING_CHANCE; p++) {
        const struct phase_sampling s = {p, SHARE, 1};
        cr_expect(phase_sampling_wants(&s, 1, &(struct phase_tally){.intervals = SHARE}));
        cr_expect(!phase_sampling_wants(&s, 1, &(struct phase_tally){.intervals = SHARE, .profiled = 2}));
    }
}

/* A share of 1 takes all that can be chosen. */
Test(sampling, all_of_them)
{
    uint32_t chosen[INTERVALS];
    cr_expect_eq(choose(&(struct phase_sampling){PHASE_SAMPLING_PERIODIC, 1, 1}, 1, chosen), INTERVALS);
    cr_expect_eq(choose(&(struct phase_sampling){PHASE_SAMPLING_THIRD, 1, 1}, 1, chosen), INTERVALS - 1);
}
