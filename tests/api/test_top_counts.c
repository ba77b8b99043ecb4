/* What `fathom top` counts. */
#include <criterion/criterion.h>

#include "api/top/counts.h"

Test(top_counts, sureness_is_of_all_paths_by_weight)
{
    struct counts *counts = counts_new(&(struct counts_options){.eps = 0.001}, NULL);
    const struct sample sample = {.pid = 7, .tid = 7, .period = 1000};
    const struct online_context seen[] = {{.sample = &sample, .certainty = CERTAINTY_PROVED, .sure = 1},
                                          {.sample = &sample, .certainty = CERTAINTY_INFERRED, .sure = 0.75},
                                          {.sample = &sample, .certainty = CERTAINTY_INFERRED, .sure = 0}};
    struct fathom_error err;
    cr_assert_not_null(counts);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(counts_add(counts, NULL, &seen[i], &err), 0);
    struct cct *tree = counts_tree(counts, true, FRAMES_NONE);
    cr_assert_not_null(tree);
    const struct cct_node *thread = cct_root(tree)->first_child;
    cr_assert_not_null(thread);
    cr_expect_eq(thread->self[0], 3000);
    cr_expect_eq(thread->self[1], 1750, "58%%, also where no stack is compared");
    cct_free(tree);
    counts_free(counts);
}

/* A period is what a recording says it is. */
Test(top_counts, sureness_of_the_most_weight_is_that_weight)
{
    struct counts *counts = counts_new(&(struct counts_options){.eps = 0.001}, NULL);
    const struct sample sample = {.pid = 7, .tid = 7, .period = UINT64_MAX};
    const struct online_context seen = {.sample = &sample, .certainty = CERTAINTY_PROVED, .sure = 1};
    struct fathom_error err;
    cr_assert_not_null(counts);
    cr_assert_eq(counts_add(counts, NULL, &seen, &err), 0);
    struct cct *tree = counts_tree(counts, true, FRAMES_NONE);
    cr_assert_not_null(tree);
    const struct cct_node *thread = cct_root(tree)->first_child;
    cr_assert_not_null(thread);
    cr_expect_eq(thread->self[0], UINT64_MAX);
    cr_expect_eq(thread->self[1], UINT64_MAX);
    cct_free(tree);
    counts_free(counts);
}
