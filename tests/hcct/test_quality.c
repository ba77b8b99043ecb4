/* test_quality.c - the paper's metrics, by hand; and the paper's examples. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "hcct/hcct.h"
#include "hcct/quality.h"

static void add(struct cct *cct, const char *path, uint64_t weight)
{
    uint32_t items[16];
    size_t count = 0;
    for (; path[count]; count++)
        items[count] = (uint32_t)path[count];
    cr_assert_not_null(cct_add(cct, items, count, &weight));
}

static struct hcct *counter_new(enum hcct_kind kind, double eps)
{
    return hcct_new(&(struct hcct_options){
        .kind = kind, .eps = eps, .phi = eps * 1.5, .delta = 1e-6, .metrics = 1, .seed = 1});
}

Test(quality, by_hand)
{
    struct cct *exact = cct_new(1), *hcct = cct_new(1);
    add(exact, "m", 1);
    add(exact, "ma", 60);
    add(exact, "mab", 20);
    add(exact, "mc", 15);
    add(exact, "mcd", 4);
    add(hcct, "ma", 66); /* 10% too much, of which 6 are known to be able to be others' */
    *cct_error_of(cct_root(hcct)->first_child->first_child) = 6;
    add(hcct, "mab", 20);
    add(hcct, "mcd", 12); /* not hot */
    struct quality q;
    cr_assert_eq(quality_of(hcct, exact, 0.12, &q), 0);
    cr_expect_eq(q.hot, 3, "a, b and c");
    cr_expect_eq(q.hot_nodes, 4, "and m");
    cr_expect_eq(q.nodes, 5);
    cr_expect_eq(q.false_positives, 1, "d");
    cr_expect_eq(q.false_negatives, 1, "c is there for d alone");
    cr_expect_float_eq(q.overlap, 1, 1e-9);
    cr_expect_float_eq(q.most_uncovered, 0, 1e-9);
    cr_expect_float_eq(q.most_error, 2, 1e-9);
    cr_expect_float_eq(q.mean_error, (0.1 + 0 + 2) / 3, 1e-9);
    cr_expect_float_eq(q.mean_corrected, (0 + 0 + 2.0) / 3, 1e-9);
    cct_free(hcct);

    hcct = cct_new(1);
    add(hcct, "mab", 20);
    cr_assert_eq(quality_of(hcct, exact, 0.12, &q), 0);
    cr_expect_float_eq(q.overlap, 0.81, 1e-9);
    cr_expect_float_eq(q.most_uncovered, 15.0 / 60, 1e-9);
    cr_expect_float_eq(q.mean_uncovered, (15.0 + 4) / 60 / 2, 1e-9);
    cr_expect_float_eq(q.coverage[0], 2.0 / 3, 1e-9, "of a, b and c");
    cct_free(hcct);

    /* Without the heaviest edge, what is hot is still what the exact tree's heaviest one makes so. */
    struct cct *other = cct_new(1);
    add(other, "ma", 4);
    add(other, "mb", 3);
    add(other, "mc", 3);
    add(other, "d", 60);
    hcct = cct_new(1);
    add(hcct, "ma", 4);
    add(hcct, "mb", 3);
    add(hcct, "mc", 3);
    cr_assert_eq(quality_of(hcct, other, 0.12, &q), 0);
    cr_expect_float_eq(q.coverage[0], 0, 1e-9, "of d");
    cr_expect_float_eq(q.coverage[1], 3.0 / 4, 1e-9, "of all");
    cct_free(hcct);
    cct_free(other);

    double phi;
    cr_assert_eq(quality_phi_for(exact, 0.61, &phi), 0);
    cr_expect_float_eq(phi, 0.6, 1e-9, "m and a");
    cr_assert_eq(quality_phi_for(exact, 0.9, &phi), 0);
    cr_expect_float_eq(phi, 0.15, 1e-9);
    cct_free(exact);
}

/* HCCT paper, section 3.1: main calls p once and then q N - 2 times; eps = 1/4, phi = 1/2. Only q is hot, but p must not
 * be removed before N - 2 is known to be large. */
Test(quality, the_papers_p_and_q)
{
    for (enum hcct_kind kind = 0; kind < HCCT_KINDS; kind++) {
        struct hcct *h = counter_new(kind, 0.25);
        static const uint32_t start[] = {'m', 'p', HCCT_RETURN}, call[] = {'q', HCCT_RETURN};
        size_t done;
        cr_assert_eq(hcct_feed(h, start, NULL, 3, &done), 0);
        for (unsigned i = 0; i < 98; i++)
            cr_assert_eq(hcct_feed(h, call, NULL, 2, &done), 0);
        struct cct *q = hcct_query(h, 0.5);
        cr_assert_not_null(q);
        cr_expect_eq(cct_count(q), 3, "%s: root, m, q", hcct_kind_names[kind]);
        const struct cct_node *m = cct_root(q)->first_child;
        cr_expect_eq(m->item, 'm');
        cr_expect_eq(m->self[0], 0);
        cr_expect_eq(m->first_child->item, 'q');
        cr_expect_eq(m->first_child->self[0], 98);
        cct_free(q);
        hcct_free(h);
    }
}

/* A tree like that of the paper's Figure 2: N = 581, phi = 1/10 (58.1), eps = 1/30 (38): all of 59 or more, none of 38 or
 * less. */
Test(quality, a_tree_like_the_papers_figure_2)
{
    static const struct {
        const char *path;
        unsigned weight;
    } contexts[] = {{"r", 1},     {"ra", 10},   {"rb", 5},     {"rab", 135}, {"rac", 40},
                    {"rabd", 60}, {"rabe", 19}, {"rbc", 38},   {"rbd", 59},  {"rbde", 90},
                    {"rbdf", 30}, {"rbcg", 4},  {"rbcgh", 85}, {"rk", 5}};
    enum { COUNT = sizeof contexts / sizeof *contexts };
    for (enum hcct_kind kind = 0; kind < HCCT_KINDS; kind++) {
        struct hcct *h = counter_new(kind, 1.0 / 30);
        unsigned left[COUNT], total = 0;
        for (size_t i = 0; i < COUNT; i++)
            total += left[i] = contexts[i].weight;
        cr_assert_eq(total, 581);
        for (unsigned taken = 0, i = 0; taken < total; i = (i + 1) % COUNT) { /* in turns */
            uint32_t items[8];
            size_t depth = 0;
            for (; contexts[i].path[depth]; depth++)
                items[depth] = (uint32_t)contexts[i].path[depth];
            if (left[i]) {
                cr_assert_eq(hcct_add(h, items, depth, (uint64_t[]){1}), 0);
                left[i]--;
                taken++;
            }
        }
        struct cct *q = hcct_query(h, 0.1);
        size_t hot = 0;
        for (size_t i = 0; i < COUNT; i++) {
            const struct cct_node *n = cct_root(q);
            for (const char *c = contexts[i].path; n && *c; c++) {
                n = n->first_child;
                while (n && n->item != (uint32_t)*c)
                    n = n->next_sibling;
            }
            bool said = n && n->self[0];
            hot += said;
            cr_expect(contexts[i].weight < 59 || said, "%s: %s", hcct_kind_names[kind], contexts[i].path);
            cr_expect(contexts[i].weight > 38 || !said, "%s: %s", hcct_kind_names[kind], contexts[i].path);
        }
        cr_expect_geq(hot, 5);
        cct_free(q);
        hcct_free(h);
    }
}
