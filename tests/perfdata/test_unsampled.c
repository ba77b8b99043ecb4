/* Threads that never had a sample. */
#include <criterion/criterion.h>

#include "perfdata/unsampled.h"

static void apply(struct unsampled *u, enum record_kind kind, uint32_t tid, uint64_t time)
{
    cr_assert_eq(unsampled_apply(u, &(struct record){.kind = kind, .pid = 1, .tid = tid, .time = time}), 0);
}

Test(unsampled, counts_those_that_started_and_had_none)
{
    struct unsampled *u = unsampled_new();
    uint64_t started;
    cr_assert_not_null(u);
    cr_expect_eq(unsampled_count(u, &started), 0u);
    cr_expect_eq(started, 0u);
    apply(u, RECORD_SAMPLE, 1, 1); /* whose start was not recorded */
    apply(u, RECORD_FORK, 2, 0);   /* was there before */
    apply(u, RECORD_FORK, 3, 2);
    apply(u, RECORD_FORK, 4, 3);
    apply(u, RECORD_SAMPLE, 3, 4);
    apply(u, RECORD_SAMPLE, 3, 5);
    apply(u, RECORD_EXIT, 3, 6);
    cr_expect_eq(unsampled_count(u, &started), 1u);
    cr_expect_eq(started, 2u);
    apply(u, RECORD_FORK, 3, 7); /* the number is used again */
    cr_expect_eq(unsampled_count(u, &started), 2u);
    cr_expect_eq(started, 3u);
    apply(u, RECORD_SAMPLE, 3, 8);
    apply(u, RECORD_SAMPLE, 4, 9);
    apply(u, RECORD_SAMPLE, 4, 10);
    cr_expect_eq(unsampled_count(u, &started), 0u);
    unsampled_free(u);
    unsampled_free(NULL);
}
