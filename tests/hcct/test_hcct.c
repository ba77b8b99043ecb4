/* test_hcct.c - Space Saving on streams short enough to work out by hand, and what is bounded. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "hcct/hcct_data.h"

static struct hcct *lss_new(double eps, uint32_t metrics)
{
    return hcct_new(&(struct hcct_options){.kind = HCCT_LSS, .eps = eps, .metrics = metrics});
}

static const uint32_t a[] = {1}, b[] = {1, 2}, c[] = {1, 3}, d[] = {4, 5, 6};

Test(hcct, refuses_what_is_no_eps)
{
    cr_expect_null(lss_new(0, 1));
    cr_expect_null(lss_new(1, 1));
    cr_expect_null(lss_new(-0.1, 1));
    cr_expect_null(lss_new(NAN, 1));
    struct hcct *h = lss_new(1e-300, 1);
    cr_expect_not_null(h, "small is allowed: memory is taken as it is needed");
    hcct_free(h);
    h = lss_new(0.01, 1);
    cr_expect_null(hcct_query(h, 0.01), "phi must be above eps");
    hcct_free(h);
}

Test(hcct, known_stream)
{
    struct hcct *h = lss_new(0.5, 1); /* two counters */
    hcct_add(h, b, 2, (uint64_t[]){5});
    hcct_add(h, c, 2, (uint64_t[]){3});
    cr_expect_eq(hcct_nodes(h), 4);
    cr_expect_eq(hcct_unseen(h), 0);
    hcct_add(h, d, 3, (uint64_t[]){1}); /* takes c's place: 3 + 1, of which 3 may be others' */
    cr_expect_eq(hcct_unseen(h), 3);
    cr_expect_eq(hcct_counters(h), 2);
    cr_expect_eq(hcct_nodes(h), 6, "c is gone, its parent stays for b's sake");
    hcct_add(h, d, 3, (uint64_t[]){2});
    cr_expect_eq(hcct_total(h), 11);

    struct cct *q = hcct_query(h, 0.54); /* 5.94 */
    cr_expect_eq(cct_count(q), 4, "root, 4, 5, 6");
    cr_expect_eq(cct_total(q), 11);
    cr_expect_eq(cct_root(q)->self[0], 5);
    struct cct_node *hot = cct_root(q)->first_child->first_child->first_child;
    cr_expect_eq(hot->item, 6);
    cr_expect_eq(hot->self[0], 6);
    cr_expect_eq(cct_error(hot), 3);
    cr_expect_eq(cct_parent(hot)->self[0], 0);
    cct_free(q);

    hcct_add(h, a, 1, (uint64_t[]){10}); /* takes b's place (5) */
    cr_expect_eq(hcct_nodes(h), 5, "b is gone, a stays with a counter");
    q = hcct_query(h, 0.6); /* 12.6 of 21 */
    cr_expect_eq(cct_count(q), 2);
    cr_expect_eq(cct_root(q)->first_child->self[0], 15);
    cr_expect_eq(cct_error(cct_root(q)->first_child), 5);
    cr_expect_eq(cct_root(q)->self[0], 6);
    cct_free(q);
    hcct_free(h);
}

Test(hcct, an_evicted_ancestor_stays_without_a_counter)
{
    struct hcct *h = lss_new(0.5, 1);
    hcct_add(h, a, 1, (uint64_t[]){1});
    hcct_add(h, b, 2, (uint64_t[]){10});
    hcct_add(h, d, 3, (uint64_t[]){20});
    cr_expect_eq(hcct_nodes(h), 6);
    struct cct *q = hcct_query(h, 0.51);
    cr_expect_eq(cct_count(q), 4);
    cr_expect_eq(cct_root(q)->self[0], 10);
    cct_free(q);
    hcct_free(h);
}

Test(hcct, exactly_phi_is_hot)
{
    struct hcct *h = lss_new(0.1, 1);
    hcct_add(h, a, 1, (uint64_t[]){25});
    hcct_add(h, b, 2, (uint64_t[]){75});
    struct cct *q = hcct_query(h, 0.25);
    cr_expect_eq(cct_root(q)->first_child->self[0], 25);
    cr_expect_eq(cct_root(q)->self[0], 0);
    cct_free(q);
    hcct_free(h);
}

Test(hcct, no_weight_and_no_path)
{
    struct hcct *h = lss_new(0.1, 1);
    cr_expect_eq(hcct_add(h, d, 3, (uint64_t[]){0}), 0);
    cr_expect_eq(hcct_nodes(h), 1);
    cr_expect_eq(hcct_add(h, NULL, 0, (uint64_t[]){7}), 0);
    cr_expect_eq(hcct_total(h), 7);
    cr_expect_eq(hcct_counters(h), 0);
    struct cct *q = hcct_query(h, 0.5);
    cr_expect_eq(cct_root(q)->self[0], 7);
    cct_free(q);
    hcct_free(h);
}

Test(hcct, weights_do_not_wrap)
{
    for (enum hcct_kind kind = 0; kind < HCCT_KINDS; kind++) {
        struct hcct_options options = {.kind = kind, .eps = 0.5, .phi = 0.6, .delta = 0.1, .metrics = 1};
        struct hcct *h = hcct_new(&options);
        for (uint32_t i = 0; i < 10; i++) {
            cr_assert_eq(hcct_add(h, &i, 1, (uint64_t[]){UINT64_MAX - i}), 0);
            cr_assert_eq(hcct_add(h, &i, 1, (uint64_t[]){1}), 0);
        }
        cr_expect_eq(hcct_total(h), UINT64_MAX);
        struct cct *q = hcct_query(h, 0.9);
        cr_assert_not_null(q, "%s", hcct_kind_names[kind]);
        cr_expect_eq(cct_root(q)->self[0], 0, "%s", hcct_kind_names[kind]);
        cct_free(q);
        hcct_free(h);
    }
}

Test(hcct, refuses_other_options)
{
    cr_expect_null(hcct_new(&(struct hcct_options){.kind = HCCT_LSS, .eps = 0.1}), "no metrics");
    cr_expect_null(hcct_new(&(struct hcct_options){.kind = HCCT_KINDS, .eps = 0.1, .metrics = 1}));
    struct hcct_options sticky = {.kind = HCCT_STICKY, .eps = 0.1, .phi = 0.1, .delta = 0.1, .metrics = 1};
    cr_expect_null(hcct_new(&sticky), "phi is not above eps");
    sticky.phi = 0.2;
    sticky.delta = 0;
    cr_expect_null(hcct_new(&sticky));
}

/* A path that is deep, and where the stream is, is no reason to forget what is hot. */
Test(hcct, deep_recursion_leaves_the_purging_counter_its_counts)
{
    enum { DEPTH = 5000, HOT = 20 };
    struct hcct *h = hcct_new(&(struct hcct_options){.kind = HCCT_PURGE, .eps = 0.01, .metrics = 1});
    static uint32_t events[DEPTH];
    size_t done;
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t call[] = {i % HOT, HCCT_RETURN};
        cr_assert_eq(hcct_feed(h, call, NULL, 2, &done), 0);
    }
    for (uint32_t i = 0; i < DEPTH; i++)
        events[i] = 1000 + i;
    cr_assert_eq(hcct_feed(h, events, NULL, DEPTH, &done), 0);
    cr_expect_lt(hcct_unseen(h), 2000 / HOT, "%llu", (unsigned long long)hcct_unseen(h));
    struct cct *q = hcct_query(h, 99.5 / (2000 + DEPTH));
    cr_assert_not_null(q);
    cr_expect_geq(cct_count(q), HOT + 1);
    cct_free(q);
    hcct_free(h);
}

/* Ten million nodes would it be in an exact tree. */
Test(hcct, memory_is_bounded_on_distinct_paths)
{
    enum { COUNTERS = 100, DEPTH = 10, PATHS = 1000000 };
    struct hcct *h = lss_new(1.0 / COUNTERS, 1);
    size_t most = 0;
    for (uint32_t i = 0; i < PATHS; i++) {
        uint32_t path[DEPTH] = {i};
        cr_assert_eq(hcct_add(h, path, DEPTH, (uint64_t[]){1 + i % 7}), 0);
        most = hcct_nodes(h) > most ? hcct_nodes(h) : most;
    }
    cr_expect_eq(hcct_counters(h), COUNTERS);
    cr_expect_eq(most, COUNTERS * DEPTH + 1);
    cr_expect_lt(tree_bytes(&h->tree), 200000, "%zu bytes", tree_bytes(&h->tree));
    hcct_free(h);
}

Test(hcct, deep_recursion)
{
    enum { DEPTH = 100000 };
    uint32_t *items = calloc(DEPTH, sizeof *items);
    struct hcct *h = lss_new(0.3, 1);
    for (uint32_t i = 0; i < 8; i++) {
        items[DEPTH - 1] = i;
        cr_assert_eq(hcct_add(h, items, DEPTH, (uint64_t[]){1}), 0);
    }
    items[DEPTH - 1] = 3;
    cr_assert_eq(hcct_add(h, items, DEPTH, (uint64_t[]){100}), 0);
    struct cct *q = hcct_query(h, 0.8);
    cr_expect_eq(cct_count(q), DEPTH + 1);
    cct_free(q);
    cr_assert_eq(hcct_add(h, a, 1, (uint64_t[]){1000}), 0);
    cr_assert_eq(hcct_add(h, b, 2, (uint64_t[]){1000}), 0);
    cr_assert_eq(hcct_add(h, c, 2, (uint64_t[]){1000}), 0);
    cr_assert_eq(hcct_add(h, d, 3, (uint64_t[]){1000}), 0);
    cr_expect_lt(hcct_nodes(h), 20, "the deep paths are pruned");
    hcct_free(h);
    free(items);
}

/* Of the metrics beside the weight a path has what was added since it has a counter; the sums stay. */
Test(hcct, several_metrics)
{
    struct hcct *x = lss_new(0.5, 2);
    hcct_add(x, b, 2, (uint64_t[]){5, 1});
    hcct_add(x, c, 2, (uint64_t[]){3, 1});
    hcct_add(x, d, 3, (uint64_t[]){1, 1}); /* takes c's place */
    hcct_add(x, d, 3, (uint64_t[]){2, 1});
    hcct_add(x, b, 2, (uint64_t[]){0, 10}); /* no weight: in the total alone */
    struct cct *q = hcct_query(x, 0.54);
    const struct cct_node *hot = cct_root(q)->first_child->first_child->first_child;
    cr_expect_arr_eq(hot->self, ((uint64_t[]){6, 2}), 16);
    cr_expect_arr_eq(cct_root(q)->self, ((uint64_t[]){5, 12}), 16);
    cct_free(q);
    hcct_add(x, c, 2, (uint64_t[]){10, 1}); /* comes back in b's place, on a node that was another's */
    q = hcct_query(x, 0.61);
    hot = cct_root(q)->first_child;
    cr_expect_eq(hot->item, c[0]);
    cr_expect_arr_eq(hot->first_child->self, ((uint64_t[]){15, 1}), 16);
    cr_expect_arr_eq(cct_root(q)->self, ((uint64_t[]){6, 14}), 16);
    cct_free(q);
    hcct_free(x);
}
