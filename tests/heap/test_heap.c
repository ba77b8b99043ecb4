/* Which allocations are sampled, what they stand for, and what is known of those that are not freed. */
#include <criterion/criterion.h>
#include <math.h>

#include "heap/mappings.h"
#include "heap/sampled.h"
#include "base/sampling.h"

Test(heap, logarithms_and_chances_are_those_of_libm)
{
    for (double x = 1e-16; x < 1e16; x *= 1.37)
        cr_expect_float_eq(sampling_log(x), log(x), 1e-5, "%g", x);
    for (double x = 1e-9; x < 30; x *= 1.21)
        cr_expect_float_eq(sampling_chance(x) / -expm1(-x), 1, 1e-6, "%g", x);
    cr_expect_eq(sampling_chance(0), 0);
}

/* Sums over samples are those over all: of small ones, of large ones, of a few that are huge. */
Test(heap, weights_add_up)
{
    static const struct {
        uint64_t size, count;
    } cases[] = {{16, 2000000}, {1000, 300000}, {20000, 20000}, {1000000, 300}};
    const double mean = 10000;
    uint64_t random = 12345;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double told = 0, samples = 0;
        int64_t left = sampling_next(&random, mean);
        for (uint64_t n = 0; n < cases[i].count; n++) {
            left -= (int64_t)cases[i].size;
            if (left > 0)
                continue;
            told += (double)sampling_weight(cases[i].size, mean);
            samples++;
            left = sampling_next(&random, mean);
        }
        const double all = (double)cases[i].size * (double)cases[i].count;
        cr_expect_float_eq(told / all, 1, 5 / sqrt(samples), "%llu bytes: %g of %g",
                           (unsigned long long)cases[i].size, told, all);
    }
    cr_expect_eq(sampling_weight(0, mean), 10000);
    cr_expect_eq(sampling_weight(UINT64_MAX / 2, mean), UINT64_MAX / 2 + 1, "as exact as a double");
}

static bool add(uint64_t address, uint64_t weight)
{
    return sampled_add((struct sampled){address, weight, weight + 1});
}

Test(heap, what_was_added_is_taken_once)
{
    cr_assert(add(4096, 7));
    cr_expect(sampled_maybe(4096));
    cr_assert(add(4096, 8), "it was freed by someone that is not seen");
    const struct sampled taken = sampled_take(4096);
    cr_expect_eq(taken.weight, 8);
    cr_expect_eq(taken.size, 9);
    cr_expect_eq(sampled_take(4096).weight, 0);
    cr_expect_not(sampled_maybe(4096));
}

/* In any order, with many in the same places; until there is no room. */
Test(heap, many_come_and_go)
{
    enum { MANY = 150000 };
    for (uint64_t i = 0; i < MANY; i++)
        cr_assert(add((i + 1) << 4, i + 1));
    for (uint64_t i = 0; i < MANY; i += 3)
        cr_assert_eq(sampled_take((i + 1) << 4).weight, i + 1);
    for (uint64_t i = 0; i < MANY; i++)
        cr_assert_eq(sampled_take((i + 1) << 4).weight, i % 3 ? i + 1 : 0);
    uint64_t most = 0;
    while (add((most + 1) << 4, 1))
        most++;
    cr_expect_eq(most, 262144 / 4 * 3);
    for (uint64_t i = most; i-- > 0;)
        cr_assert_eq(sampled_take((i + 1) << 4).weight, 1);
    cr_assert(add(16, 1));
}

/* A program aligns one by unmapping its ends, makes a hole, and unmaps all of it. */
Test(mappings, one_ends_with_its_last_byte)
{
    const uint64_t name = mappings_add(100, 100, 7);
    cr_assert_neq(name, 0);
    cr_expect(mappings_have(100) && mappings_have(199) && !mappings_have(99) && !mappings_have(200));
    cr_expect_eq(mappings_remove(0, 110).weight, 0);
    const uint64_t other = mappings_add(100, 5, 9);
    cr_expect_neq(other, name, "it is at the address of one that lives");
    cr_expect_eq(mappings_remove(100, 5).address, other);
    cr_expect_eq(mappings_remove(190, 50).weight, 0);
    cr_expect_not(mappings_have(109));
    cr_expect_not(mappings_have(190));
    cr_expect_eq(mappings_remove(140, 20).weight, 0);
    cr_expect_eq(mappings_remove(140, 20).weight, 0, "again: it has the rest");
    const struct sampled ended = mappings_remove(110, 80);
    cr_expect_eq(ended.weight, 7);
    cr_expect_eq(ended.address, name);
    cr_expect_eq(ended.size, 100);
    cr_expect_eq(mappings_remove(0, 1000).weight, 0);
}

Test(mappings, what_lay_in_a_hole_takes_nothing_of_the_rest)
{
    const uint64_t name = mappings_add(0, 30, 7);
    for (unsigned i = 0; i < 4; i++) {
        cr_expect_eq(mappings_remove(10, 10).weight, 0);
        const uint64_t other = mappings_add(10, 10, 9);
        cr_expect_eq(mappings_remove(10, 10).address, other);
    }
    cr_expect(mappings_have(9) && !mappings_have(10) && mappings_have(20));
    cr_expect_eq(mappings_remove(20, 10).weight, 0);
    cr_expect_eq(mappings_remove(0, 10).address, name);
}

Test(mappings, several_end_at_once)
{
    uint64_t sum = 0, weight, most = 0;
    cr_assert(mappings_add(0, 10, 1) && mappings_add(10, 10, 0) && mappings_add(20, 10, 2) &&
              mappings_add(40, 10, 4));
    while ((weight = mappings_remove(0, 40).weight) != 0)
        sum += weight;
    cr_expect_eq(sum, 3);
    cr_expect_not(mappings_have(10), "one that is not sampled");
    cr_expect(mappings_have(40));
    while (mappings_add(100 + most, 1, 1))
        most++;
    cr_expect_eq(most, 4096 - 1);
    while (mappings_remove(0, UINT64_MAX).weight)
        most--;
    cr_expect_eq(most, UINT64_MAX, "and that at 40");
    cr_expect(mappings_add(1, 1, 1));
}
