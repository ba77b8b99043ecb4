/* The distance of two intervals: nothing where they do the same, however few their samples; all where nothing is common. */
#include <criterion/criterion.h>

#include "base/hash.h"
#include "phases/vector.h"

/* n samples of `items` items from `first` on, equally probable. */
static struct phase_vector draw(uint64_t *random, unsigned n, uint64_t first, uint64_t items)
{
    struct phase_vector v = {0};
    for (unsigned i = 0; i < n; i++) {
        uint64_t item = first + hash_random(random) % items;
        phase_vector_add(&v, &item, 1, 1);
    }
    return v;
}

/* The mean over many pairs. */
static double mean_distance(unsigned n, uint64_t items, uint64_t apart)
{
    uint64_t random = 7;
    double sum = 0;
    for (int i = 0; i < 50; i++) {
        struct phase_vector a = draw(&random, n, 0, items), b = draw(&random, n, apart, items);
        sum += phase_vector_distance(&a, &b);
    }
    return sum / 50;
}

Test(vector, chance_is_no_distance)
{
    cr_expect_lt(mean_distance(100, 50, 0), 0.06);
    cr_expect_lt(mean_distance(1000, 50, 0), 0.03);
    cr_expect_lt(mean_distance(1000, 500, 0), 0.06);
}

Test(vector, what_differs_is)
{
    cr_expect_gt(mean_distance(100, 50, 1000), 0.8, "some buckets are shared by chance");
    double half = mean_distance(1000, 50, 25);
    cr_expect(half > 0.4 && half < 0.6, "half of the items: %g", half);
}

Test(vector, extremes)
{
    struct phase_vector empty = {0}, one = {0}, other = {0};
    uint64_t a = 1, b = 2;
    phase_vector_add(&one, &a, 1, 5);
    phase_vector_add(&other, &b, 1, 5e9);
    cr_expect_eq(phase_vector_distance(&empty, &one), 1);
    cr_expect_eq(phase_vector_distance(&empty, &empty), 1);
    cr_expect_eq(phase_vector_distance(&one, &one), 0);
    cr_expect_eq(phase_vector_distance(&one, &other), 1);
}

Test(vector, a_sample_of_several_items)
{
    struct phase_vector v = {0}, twice = {0};
    uint64_t items[] = {1, 2, 3, 4};
    phase_vector_add(&v, items, 4, 8);
    cr_expect_eq(v.weight, 8);
    cr_expect_eq(v.samples, 1);
    double sum = 0;
    for (unsigned i = 0; i < PHASE_BUCKETS; i++)
        sum += (double)v.at[i];
    cr_expect_eq(sum, 8);
    phase_vector_join(&twice, &v);
    phase_vector_join(&twice, &v);
    cr_expect_eq(twice.samples, 2);
    cr_expect_eq(phase_vector_distance(&v, &twice), 0);
}
