/* How samples are shared out among contexts: known answers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "infer/model/backoff.h"
#include "infer/model/weights.h"
#include "tests/infer/rig.h"

enum { A, B, C, D, E };

static uint32_t unwound[64];

/* The map's node of a path, given as letters: the first of those with its CID and functions. */
static uint32_t node_of(const struct rig *r, const char *path)
{
    for (uint32_t i = 0; i < pathmap_node_count(r->map); i++) {
        uint32_t functions[8];
        int depth = pathmap_path(r->map, i, functions, 8);
        bool same = depth == (int)strlen(path);
        for (int d = 0; same && d < depth; d++)
            same = functions[d] == r->numbers[path[d] - 'a'];
        if (same)
            return i;
    }
    cr_assert_fail("no such path");
    return PATHMAP_NONE;
}

static double share_of(const struct weights *w, uint32_t node)
{
    struct weights_cid cid;
    for (size_t i = 0; weights_cid(w, i, &cid); i++)
        if (node >= cid.first && node < cid.first + cid.count)
            return cid.shares[node - cid.first];
    return 0;
}

static double share(const struct rig *r, const struct weights *w, const char *path)
{
    return share_of(w, node_of(r, path));
}

static void add(const struct rig *r, struct weights *w, unsigned function, uint32_t height, uint64_t samples)
{
    cr_assert_eq(weights_add(w, SETTING_ANY, r->numbers[function], height, samples), 0);
}

Test(weights, backs_off_as_the_formula_says)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, A, 16, 4, 0);
    rig_child(&r, rig_child(&r, a, B, 32, 3, 0), D, 64, 3, 3);
    rig_child(&r, rig_child(&r, a, C, 32, 1, 0), D, 64, 1, 1);
    rig_finish(&r);
    unwound[node_of(&r, "abd")] = 3;
    unwound[node_of(&r, "acd")] = 1;
    struct weights *w = weights_new(r.map, unwound, false);
    cr_assert(w);
    add(&r, w, D, 64, 10);
    weights_run(w, false);
    /* below a: four samples, two kinds, which the lower orders have seen once each */
    double lower = (1 + 2 * ((1 + 2 * BACKOFF_NEVER) / 4)) / 4;
    double b = (3 + 2 * lower) / 6, c = (1 + 2 * lower) / 6;
    /* d below b and c: one kind, once below either */
    lower = (1 + (1 + BACKOFF_NEVER) / 2) / 2;
    b *= (3 + lower) / 4;
    c *= (1 + lower) / 2;
    /* and samples in d itself, which the lowest order has seen below both */
    lower = (1 + (2 + BACKOFF_NEVER) / 3) / 2;
    b *= (3 + lower) / 4;
    c *= (1 + lower) / 2;
    cr_expect_float_eq(share(&r, w, "abd"), b / (b + c), 1e-9);
    cr_expect_float_eq(share(&r, w, "acd"), c / (b + c), 1e-9);
    weights_free(w);
    rig_end(&r);
}

Test(weights, training_does_not_drown_this_run)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, A, 16, 1000300, 0);
    rig_child(&r, rig_child(&r, a, B, 32, 1000000, 0), D, 64, 1000000, 1000000);
    rig_child(&r, rig_child(&r, a, C, 32, 300, 0), D, 64, 300, 300);
    rig_finish(&r);
    unwound[node_of(&r, "acd")] = 300;
    struct weights *w = weights_new(r.map, unwound, false);
    add(&r, w, D, 64, 1);
    weights_run(w, true);
    /* 100 of training's against 300: three quarters, as all else is the same */
    cr_expect_float_eq(share(&r, w, "acd"), 0.75, 0.01);
    struct graph_weights g;
    cr_assert_eq(weights_of_nodes(w, &g), 0);
    double guessed = WEIGHTS_GUESS * share(&r, w, "acd"), trained = WEIGHTS_PRIOR;
    cr_expect_float_eq(g.self[node_of(&r, "acd")], 300 + guessed, 1e-9);
    cr_expect_float_eq(g.self[node_of(&r, "abd")], trained + WEIGHTS_GUESS - guessed, 1e-6);
    cr_expect_float_eq(g.passes[node_of(&r, "ab")], trained + WEIGHTS_GUESS - guessed, 1e-6);
    cr_expect_float_eq(g.passes[node_of(&r, "a")], 300 + trained + WEIGHTS_GUESS, 1e-6);
    cr_expect_eq(g.self[node_of(&r, "a")], 0);
    free(g.passes);
    free(g.self);
    weights_free(w);
    rig_end(&r);
}

/* Nothing tells whether b or c called d@64, but at 96 it is only c that can have. */
Test(weights, what_is_sure_tells_of_the_rest)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, A, 16, 2, 0);
    uint32_t b = rig_child(&r, a, B, 32, 1, 0), c = rig_child(&r, a, C, 32, 1, 0);
    rig_child(&r, b, D, 64, 1, 1);
    rig_child(&r, c, D, 64, 1, 1);
    rig_child(&r, c, D, 96, 0, 0);
    rig_finish(&r);
    unwound[node_of(&r, "abd")] = unwound[node_of(&r, "acd")] = 1;
    for (int learn = 0; learn <= 1; learn++) {
        struct weights *w = weights_new(r.map, unwound, false);
        add(&r, w, D, 64, 1000);
        add(&r, w, D, 96, 100);
        weights_run(w, learn);
        cr_expect_float_eq(share_of(w, node_of(&r, "acd") + 1), 1, 1e-9, "of d at 96");
        if (learn)
            cr_expect_gt(share(&r, w, "acd"), 0.9, "as if unwound %g times", 1 + 100 * WEIGHTS_GUESS);
        else
            cr_expect_float_eq(share(&r, w, "acd"), 0.5, 1e-9);
        weights_free(w);
    }
    rig_end(&r);
}

Test(weights, a_path_is_one_whatever_its_sites)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, A, 16, 3, 0), b = rig_child(&r, a, B, 32, 2, 0);
    rig_child(&r, b, D, 64, 1, 1);
    uint32_t other = trie_child(r.trie, b, r.functions[D], 64, 0x77);
    trie_add(r.trie, other, 1, 1);
    rig_child(&r, rig_child(&r, a, C, 32, 1, 0), D, 64, 1, 1);
    rig_finish(&r);
    struct weights *w = weights_new(r.map, unwound, false);
    add(&r, w, D, 64, 1);
    add(&r, w, E, 64, 1); /* not in the map: nothing to share out */
    weights_run(w, true);
    double all = 0;
    uint32_t first, count = pathmap_find(r.map, r.numbers[D], 64, &first), shares = 0;
    cr_assert_eq(count, 3u);
    for (uint32_t i = first; i < first + count; i++) {
        all += share_of(w, i);
        shares += share_of(w, i) > 0;
    }
    cr_expect_float_eq(all, 1, 1e-9);
    cr_expect_eq(shares, 2u);
    weights_free(w);
    rig_end(&r);
}

/* a was called once, b and c by it 30 times each; an unwound sample went through b. */
Test(weights, calls_stand_for_samples)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, A, 16, 2, 0);
    rig_child(&r, a, B, 32, 31, 1);
    rig_child(&r, a, C, 32, 30, 0);
    rig_finish(&r);
    unwound[node_of(&r, "ab")] = 1;
    struct weights *w = weights_new(r.map, unwound, true);
    struct graph_weights g;
    cr_assert_eq(weights_of_nodes(w, &g), 0);
    cr_expect_float_eq(g.self[node_of(&r, "a")], 1, 1e-9);
    cr_expect_float_eq(g.self[node_of(&r, "ab")], 30 + 1, 1e-9);
    cr_expect_float_eq(g.self[node_of(&r, "ac")], 30, 1e-9);
    cr_expect_float_eq(g.passes[node_of(&r, "a")], 61 + 1, 1e-9);
    free(g.passes);
    free(g.self);
    weights_free(w);
    rig_end(&r);
}

Test(weights, an_empty_map_is_no_harm)
{
    struct rig r;
    rig_begin(&r);
    rig_finish(&r);
    struct weights *w = weights_new(r.map, unwound, false);
    cr_assert(w);
    add(&r, w, A, 16, 5);
    weights_run(w, true);
    struct graph_weights g;
    cr_assert_eq(weights_of_nodes(w, &g), 0);
    free(g.passes);
    free(g.self);
    weights_free(w);
    rig_end(&r);
}
