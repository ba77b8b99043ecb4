/* Run lengths predict what comes. */
#include <criterion/criterion.h>

#include "phases/predictor.h"

/* How many of the last 100 of these intervals are predicted. */
static unsigned predicted(const uint32_t *cycle, unsigned length, unsigned intervals)
{
    struct phase_predictor *p = phase_predictor_new();
    uint32_t next = 0;
    unsigned right = 0;
    for (unsigned i = 0; i < intervals; i++) {
        uint32_t phase = cycle[i % length];
        right += i >= intervals - 100 && next == phase;
        next = phase_predictor_take(p, phase);
        cr_assert_neq(next, 0);
    }
    phase_predictor_free(p);
    return right;
}

Test(predictor, one_phase_goes_on)
{
    const uint32_t cycle[] = {1};
    cr_expect_eq(predicted(cycle, 1, 1000), 100);
}

Test(predictor, runs_of_known_lengths)
{
    const uint32_t cycle[] = {1, 1, 1, 2, 2, 3, 3, 3, 3};
    cr_expect_eq(predicted(cycle, 9, 200), 100);
}

Test(predictor, long_runs)
{
    enum { RUN = 1024 };
    static uint32_t cycle[2 * RUN];
    for (unsigned i = 0; i < 2 * RUN; i++)
        cycle[i] = 1 + i / RUN;
    cr_expect_geq(predicted(cycle, 2 * RUN, 8 * RUN), 90, "lengths from 256 on are rounded");
}
