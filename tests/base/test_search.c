/* Binary search against a walk. */
#include <criterion/criterion.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/search.h"

Test(search, agrees_with_a_walk_over_sorted_numbers)
{
    enum { LENGTH = 40 };
    uint32_t numbers[LENGTH];
    for (uint32_t step = 0; step < 4; step++) { /* with 0, all are alike */
        for (uint32_t i = 0; i < LENGTH; i++)
            numbers[i] = i * step / 2;
        for (uint32_t count = 0; count <= LENGTH; count++) {
            for (uint32_t wanted = 0; wanted < 2 * LENGTH; wanted++) {
                uint32_t first = 0, beyond = 0;
                while (first < count && numbers[first] < wanted)
                    first++;
                while (beyond < count && numbers[beyond] <= wanted)
                    beyond++;
                cr_assert_eq(lower_bound(i, 0, count, numbers[i] < wanted), first);
                cr_assert_eq(lower_bound(i, 0, count, numbers[i] <= wanted), beyond);
            }
        }
    }
}

/* Notes a number that was asked for; the answer. */
static bool ask(uint32_t i, bool answer, uint32_t *asked)
{
    cr_assert(i >= 10 && i < 20);
    ++*asked;
    return answer;
}

Test(search, asks_of_its_range_alone_and_as_often_as_it_can_be_halved)
{
    uint32_t asked = 0;
    cr_expect_eq(lower_bound(i, 15u, 15u, ask(i, true, &asked)), 15);
    cr_expect_eq(asked, 0, "an empty range");
    cr_expect_eq(lower_bound(i, 10u, 20u, ask(i, false, &asked)), 10);
    cr_expect_eq(lower_bound(i, 10u, 20u, ask(i, true, &asked)), 20);
    cr_expect_leq(asked, 8);
}

Test(search, reaches_the_ends_of_its_type)
{
    cr_expect_eq(lower_bound(i, UINT32_MAX - 2, UINT32_MAX, true), UINT32_MAX);
    cr_expect_eq(lower_bound(i, UINT32_C(0), UINT32_MAX, i < UINT32_MAX - 5), UINT32_MAX - 5);
    cr_expect_eq(lower_bound(i, (size_t)0, SIZE_MAX, i < SIZE_MAX - 5), SIZE_MAX - 5);
}
