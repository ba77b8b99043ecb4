/*
 * test_bounds.c - the promises of hcct.h on random skewed, weighted streams, against the exact tree of the
 * same stream (HCCT paper, section 3.1 and Definition 1).
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "hcct/hcct_data.h"

enum { MAX_DEPTH = 12, DISTINCT = 20000 };

static uint64_t random_next(uint64_t *state) /* splitmix64 (public domain) */
{
    return hash_u64(*state += 0x9e3779b97f4a7c15ULL);
}

/* One of DISTINCT paths, the low numbers far more often; `skew` 1 is uniform. Paths share their outer
 * frames. */
static size_t path_draw(uint64_t *state, double skew, uint32_t *items)
{
    double u = (double)(random_next(state) >> 11) * 0x1p-53;
    uint64_t path = (uint64_t)(DISTINCT * pow(u, skew));
    size_t depth = 1 + path % MAX_DEPTH;
    for (size_t i = 0; i < depth; i++)
        items[i] = (uint32_t)(hash_u64(path >> (depth - 1 - i)) % (i ? 40 : 4));
    return depth;
}

static uint64_t weight_draw(uint64_t *state)
{
    uint64_t r = random_next(state);
    return r % 100 == 0 ? 1 + (r >> 32) % 100000 : 1 + (r >> 32) % 100;
}

/* The node of a path in another tree, given by its node in one; NULL when it is not there. */
static struct cct_node *same_path(struct cct_node *root, const struct cct_node *node)
{
    uint32_t items[MAX_DEPTH];
    size_t depth = 0;
    for (; node->parent; node = node->parent)
        items[depth++] = node->item;
    while (root && depth--) {
        struct cct_node *child = root->first_child;
        while (child && child->item != items[depth])
            child = child->next_sibling;
        root = child;
    }
    return root;
}

static void check_counters(struct hcct *h, struct cct *truth, double eps)
{
    long double bound = (long double)eps * h->total[0];
    size_t monitored = 0, nodes = 0;
    cr_assert_leq(h->count, (size_t)ceil(1 / eps));
    cr_assert_leq((long double)hcct_unseen(h), bound);
    for (struct cct_node *n = h->tree.root; n; n = cct_next(h->tree.root, n)) {
        nodes++;
        if (n->links & NODE_MONITORED) {
            const struct cct_node *exact = same_path(cct_root(truth), n);
            monitored++;
            cr_assert_not_null(exact);
            cr_assert_leq(exact->self[0], n->self[0]);
            cr_assert_geq(exact->self[0], n->self[0] - n->error);
            cr_assert_leq((long double)n->error, bound);
        } else {
            cr_assert(n->first_child || n == h->tree.root, "a leaf without a counter");
            cr_assert_eq(n->self[0], 0);
        }
    }
    cr_assert_eq(monitored, h->count);
    cr_assert_eq(nodes, hcct_nodes(h));
    for (struct cct_node *n = cct_root(truth); n; n = cct_next(cct_root(truth), n)) {
        const struct cct_node *mine = same_path(h->tree.root, n);
        if (!mine || !(mine->links & NODE_MONITORED))
            cr_assert_leq(n->self[0], hcct_unseen(h));
    }
}

static void check_query(const struct hcct *h, struct cct *truth, double phi, double eps)
{
    struct cct *q = hcct_query(h, phi);
    long double n_total = h->total[0];
    uint64_t sum = 0;
    cr_assert_not_null(q);
    cr_assert_eq(cct_total(q), cct_total(truth));
    for (struct cct_node *n = cct_root(q); n; n = cct_next(cct_root(q), n)) {
        sum += n->self[0];
        if (n == cct_root(q) || !n->self[0]) {
            cr_assert(n->first_child || n == cct_root(q), "a leaf that is not hot");
            continue;
        }
        const struct cct_node *exact = same_path(cct_root(truth), n);
        cr_assert_gt((long double)exact->self[0], (phi - (long double)eps) * n_total);
        cr_assert_leq(exact->self[0], n->self[0]);
        cr_assert_geq(exact->self[0], n->self[0] - n->error);
    }
    cr_assert_eq(sum, cct_total(truth), "the total stays");
    for (struct cct_node *n = cct_root(truth); n; n = cct_next(cct_root(truth), n)) {
        if (n == cct_root(truth) || n->self[0] < phi * n_total)
            continue;
        const struct cct_node *found = same_path(cct_root(q), n);
        cr_assert(found && found->self[0] >= n->self[0], "a false negative");
    }
    cct_free(q);
}

static void check(struct hcct *h, struct cct *truth, double eps)
{
    static const double phis[] = {1.001, 2, 5, 20};
    cr_assert_eq(hcct_total(h), cct_total(truth));
    check_counters(h, truth, eps);
    for (size_t i = 0; i < sizeof phis / sizeof *phis && eps * phis[i] < 1; i++)
        check_query(h, truth, eps * phis[i], eps);
}

static void feed(struct hcct *h, struct cct *truth, uint64_t *state, double skew, bool weighted,
                 unsigned adds)
{
    for (unsigned i = 0; i < adds; i++) {
        uint32_t items[MAX_DEPTH];
        size_t depth = path_draw(state, skew, items);
        uint64_t weight = weighted ? weight_draw(state) : 1;
        cr_assert_eq(hcct_add(h, items, depth, &weight), 0);
        cr_assert_not_null(cct_add(truth, items, depth, &weight));
    }
}

static const double epsilons[] = {0.3, 0.1, 0.03, 0.007, 0.001, 0.0002};
static const double skews[] = {1, 3, 8, 20};

Test(bounds, hold_at_any_time)
{
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        for (size_t s = 0; s < sizeof skews / sizeof *skews; s++) {
            for (unsigned weighted = 0; weighted < 2; weighted++) {
                uint64_t state = e * 100 + s * 10 + weighted;
                struct hcct *h = hcct_new(epsilons[e], 1);
                struct cct *truth = cct_new(1);
                for (unsigned part = 0; part < 4; part++) {
                    feed(h, truth, &state, skews[s], weighted, part == 0 ? 5 : 6000);
                    check(h, truth, epsilons[e]);
                }
                hcct_free(h);
                cct_free(truth);
            }
        }
    }
}

/* Hot paths change over time: what was hot is evicted and comes back. */
Test(bounds, hold_when_the_stream_changes)
{
    struct hcct *h = hcct_new(0.01, 1);
    struct cct *truth = cct_new(1);
    for (uint64_t part = 0; part < 8; part++) {
        uint64_t state = part % 3;
        feed(h, truth, &state, part % 2 ? 1 : 10, true, 4000);
        check(h, truth, 0.01);
    }
    hcct_free(h);
    cct_free(truth);
}

Test(bounds, hold_after_merging)
{
    enum { PARTS = 5 };
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        for (size_t s = 0; s < sizeof skews / sizeof *skews; s++) {
            struct hcct *parts[PARTS];
            struct cct *truth = cct_new(1);
            for (uint64_t p = 0; p < PARTS; p++) {
                uint64_t state = 1000 * p + s;
                parts[p] = hcct_new(epsilons[e], 1);
                feed(parts[p], truth, &state, skews[s], p % 2, p == 2 ? 3 : 3000);
            }
            cr_assert_eq(hcct_merge(parts[3], parts[4]), 0);
            cr_assert_eq(hcct_merge(parts[0], parts[1]), 0);
            cr_assert_eq(hcct_merge(parts[2], parts[3]), 0);
            cr_assert_eq(hcct_merge(parts[0], parts[2]), 0);
            check(parts[0], truth, epsilons[e]);
            uint64_t state = 77;
            feed(parts[0], truth, &state, skews[s], true, 5000); /* and go on */
            check(parts[0], truth, epsilons[e]);
            for (uint64_t p = 0; p < PARTS; p++)
                hcct_free(parts[p]);
            cct_free(truth);
        }
    }
}

/* A coarse summary into a fine one: the coarse one's bound holds, also later. */
Test(bounds, of_different_eps)
{
    struct hcct *fine = hcct_new(0.001, 1), *coarse = hcct_new(0.05, 1);
    struct cct *truth = cct_new(1);
    uint64_t state = 5;
    feed(fine, truth, &state, 3, true, 8000);
    feed(coarse, truth, &state, 3, true, 8000);
    cr_assert_eq(hcct_merge(fine, coarse), 0);
    cr_assert_leq((long double)hcct_unseen(fine), 0.05L * hcct_total(fine));
    check_query(fine, truth, 0.1, 0.05);
    cr_expect_null(hcct_query(fine, 0.01));
    feed(fine, truth, &state, 3, true, 8000);
    check_query(fine, truth, 0.1, 0.05);
    hcct_free(fine);
    hcct_free(coarse);
    cct_free(truth);
}
