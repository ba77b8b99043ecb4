/* Counts that stay at the most there can be. */
#include <criterion/criterion.h>

#include <math.h>

#include "base/saturate.h"

Test(saturate, sums_stay_at_the_most)
{
    cr_expect_eq(add_saturating(UINT64_MAX - 1, 1), UINT64_MAX);
    cr_expect_eq(add_saturating(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

Test(saturate, shares_are_whole_counts_or_the_nearest)
{
    cr_expect_eq(count_saturating(0.99), 0);
    cr_expect_eq(count_saturating(1750.5), 1750);
    cr_expect_eq(count_saturating(nextafter(0x1p64, 0)), UINT64_MAX - 2047);
    cr_expect_eq(count_saturating((double)UINT64_MAX), UINT64_MAX);
    cr_expect_eq(count_saturating(2.8338e23), UINT64_MAX);
    cr_expect_eq(count_saturating((double)INFINITY), UINT64_MAX);
    cr_expect_eq(count_saturating((double)NAN), 0);
    cr_expect_eq(count_saturating(-1), 0);
}
