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

Test(top_counts, a_path_ends_in_the_reason_of_a_wait_or_in_the_kernel)
{
    static const struct {
        struct sample sample;
        const char *name;
    } cases[] = {{{.tid = 7, .period = 900, .wait = WAIT_LOCK, .mode = SAMPLE_MODE_USER}, "[lock]"},
                 {{.tid = 7, .period = 900, .wait = WAIT_SLEEP, .mode = SAMPLE_MODE_KERNEL}, "[sleep]"},
                 {{.tid = 7, .period = 900, .mode = SAMPLE_MODE_KERNEL}, "[kernel]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct counts *counts = counts_new(&(struct counts_options){.eps = 0.001}, NULL);
        const struct online_context seen = {.sample = &cases[i].sample, .certainty = CERTAINTY_PROVED};
        struct fathom_error err;
        cr_assert_not_null(counts);
        cr_assert_eq(counts_add(counts, NULL, &seen, &err), 0);
        struct cct *tree = counts_tree(counts, true, FRAMES_NONE);
        cr_assert_not_null(tree);
        cr_assert_not_null(cct_root(tree)->first_child);
        const struct cct_node *last = cct_root(tree)->first_child->first_child;
        cr_assert_not_null(last, "%s", cases[i].name);
        cr_expect_str_eq(frames_at(counts_frames(counts), last->item)->name, cases[i].name);
        cr_expect_eq(last->self[0], 900);
        cct_free(tree);
        counts_free(counts);
    }
}
