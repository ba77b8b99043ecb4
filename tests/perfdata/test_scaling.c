/* test_scaling.c - what samples of events that were not always on stand for: written, read, hostile, and applied. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/scaling.h"

static struct scaling_step steps[] = {{100, 2}, {200, 1.25}};
static const struct scaling two = {
    .steps = steps, .count = 2, .events = 2, .intervals = 10, .sampled = 2, .covered = 0.75};

/* Its bytes, malloc'd, and what is read of them after `change` at `at`, of a copy as long as `size` (0: whole). */
static struct scaling read_changed(size_t size, size_t at, const void *change, size_t bytes)
{
    char *data = NULL;
    size_t all = 0;
    FILE *out = open_memstream(&data, &all);
    struct scaling got;
    struct fathom_error err;
    scaling_put(out, &two);
    fclose(out);
    memcpy(data + at, change, bytes);
    cr_assert_eq(scaling_take(bytes_of(data, size ? size : all), &got, &err), 0);
    free(data);
    return got;
}

Test(scaling, is_read_as_it_was_written)
{
    struct scaling got = read_changed(0, 0, "", 0);
    cr_assert_eq(got.count, 2);
    cr_assert_eq(got.events, 2);
    cr_assert_eq(got.intervals, 10);
    cr_assert_eq(got.sampled, 2);
    cr_assert_eq(got.covered, 0.75);
    cr_assert_eq(memcmp(got.steps, steps, sizeof steps), 0);
    free(got.steps);
}

Test(scaling, what_is_wrong_is_left_out)
{
    const double half = 0.5, not_one = 0.0 / 0.0, huge = 1e300;
    const uint32_t many = UINT32_MAX, version = 2;
    const uint64_t late = 300, more = 11;
    const struct {
        size_t size, at;
        const void *change;
        size_t bytes;
    } wrong[] = {
        {40, 0, "", 0},    {71, 0, "", 0},       {0, 0, &version, 4}, {0, 4, &many, 4},
        {0, 24, &more, 8}, {0, 32, &not_one, 8}, {0, 32, &huge, 8},   {0, 40, &late, 8},
        {0, 48, &half, 8}, {0, 48, &not_one, 8}, {0, 64, &huge, 8},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct scaling got = read_changed(wrong[i].size, wrong[i].at, wrong[i].change, wrong[i].bytes);
        cr_assert(got.count == 0 && got.steps == NULL, "case %zu", i);
    }
}

Test(scaling, steps_hold_until_the_next_and_rests_are_kept)
{
    double rest = 0;
    uint64_t sum = 0;
    cr_assert_eq(scaling_period(&two, 99, 7, &rest), 7);
    cr_assert_eq(scaling_period(&two, 100, 7, &rest), 14);
    cr_assert_eq(scaling_period(&two, 199, 7, &rest), 14);
    for (int i = 0; i < 100; i++)
        sum += scaling_period(&two, 1000, 1, &rest);
    cr_assert_eq(sum, 125, "not each rounded by itself");
    cr_assert(scaling_period(&two, 150, UINT64_MAX, &rest) > UINT64_MAX / 20, "no overflow");
}
