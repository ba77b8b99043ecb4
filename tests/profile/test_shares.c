/* Shares of an ambiguous sample: whole events, exact sums, nothing lost over many samples. */
#include <criterion/criterion.h>

#include <math.h>

#include "profile/shares.h"

static uint64_t sum_of(const uint64_t *parts, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += parts[i];
    return sum;
}

Test(shares, single_events_go_round)
{
    double owed[10] = {0};
    struct candidate_path paths[] = {{4, 0.5f}, {7, 0.25f}, {2, 0.25f}};
    uint64_t parts[3], total[3] = {0};
    for (int i = 0; i < 400; i++) {
        shares_divide(owed, paths, 3, 1, parts);
        cr_assert_eq(sum_of(parts, 3), 1u);
        for (int p = 0; p < 3; p++)
            total[p] += parts[p];
    }
    cr_expect_eq(total[0], 200u);
    cr_expect_eq(total[1], 100u);
    cr_expect_eq(total[2], 100u);
}

Test(shares, the_remainder_goes_to_the_largest)
{
    double owed[3] = {0};
    struct candidate_path paths[] = {{0, 0.5f}, {1, 0.375f}, {2, 0.125f}};
    uint64_t parts[3];
    shares_divide(owed, paths, 3, 10, parts); /* 5, 3.75, 1.25 */
    cr_expect_eq(parts[0], 5u);
    cr_expect_eq(parts[1], 4u);
    cr_expect_eq(parts[2], 1u);
}

/* Probabilities change from sample to sample and need not sum up to 1; weights are any. */
Test(shares, no_path_is_ever_an_event_off)
{
    enum { PATHS = CANDIDATES_MAX };
    double owed[PATHS] = {0};
    double due[PATHS] = {0};
    uint64_t got[PATHS] = {0}, seed = 1;
    for (int n = 0; n < 20000; n++) {
        struct candidate_path paths[PATHS];
        uint64_t parts[PATHS];
        double all = 0;
        for (uint32_t i = 0; i < PATHS; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            paths[i] = (struct candidate_path){(i * 5 + (uint32_t)n) % PATHS, (float)(seed >> 60) / 64};
            all += (double)paths[i].probability;
        }
        uint64_t weight = n % 3 ? 1 : (seed >> 40) % 1000000;
        shares_divide(owed, paths, PATHS, weight, parts);
        cr_assert_eq(sum_of(parts, PATHS), weight);
        for (uint32_t i = 0; i < PATHS; i++) {
            due[paths[i].node] += (double)paths[i].probability / all * (double)weight;
            got[paths[i].node] += parts[i];
        }
    }
    for (int i = 0; i < PATHS; i++)
        cr_expect_lt(fabs(due[i] - (double)got[i]), 1.001, "%d: due %f, got %llu", i, due[i],
                     (unsigned long long)got[i]);
}

Test(shares, weights_beyond_a_double_are_still_exact)
{
    double owed[2] = {0};
    struct candidate_path paths[] = {{0, 0.7f}, {1, 0.3f}};
    uint64_t parts[2];
    static const uint64_t weights[] = {UINT64_MAX, (1ull << 53) + 1, UINT64_MAX - 1, 0};
    for (int i = 0; i < 4; i++) {
        shares_divide(owed, paths, 2, weights[i], parts);
        cr_expect_eq(parts[0] + parts[1], weights[i]);
        cr_expect_leq(parts[1], parts[0]);
    }
}
