/* test_search.c - pads that make contexts precise: small maps whose best pads are known, and random ones counted by force. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "disambig/search/search.h"
#include "tests/disambig/maps.h"

enum { ROUNDS = 30, FUNCTIONS = 12 };

static struct search_problem problem_of(const struct maps *m, const uint32_t *most)
{
    return (struct search_problem){.map = m->map, .most = most, .stack = 2, .target = 1, .seed = 1};
}

static struct search_result run(const struct search_problem *p)
{
    struct search_result r;
    struct fathom_error err = {0};
    cr_assert_eq(search_run(p, &r, &err), 0, "%s", err.text);
    return r;
}

/* a b d and a c d: either b or c must grow. */
Test(search, two_paths)
{
    struct maps m;
    maps_begin(&m, 4);
    maps_add(&m, "abd", 16, 10);
    maps_add(&m, "acd", 16, 5);
    maps_ready(&m);
    for (int random = 0; random < 2; random++) {
        uint32_t most[4] = {0, 32, 0, 32};
        struct search_problem p = problem_of(&m, most);
        p.random = random;
        struct search_result r = run(&p);
        cr_expect_eq(r.weight, 15);
        cr_expect_eq(r.precise_before, 0);
        cr_expect_eq(r.precise_after, 15);
        cr_expect_eq(r.paths, 5);
        cr_expect_eq(r.paths_precise_before, 3);
        cr_expect_eq(r.paths_precise_after, 5);
        cr_expect(r.pads[1] == 16 || r.pads[1] == 32);
        cr_expect(!r.pads[0] && !r.pads[2] && !r.pads[3], "only b may, and has reason to");
        cr_expect_eq(r.stack_before, 48);
        cr_expect_eq(r.stack_after, 48 + r.pads[1]);
        free(r.pads);
    }
    maps_end(&m);
}

/* The best of two pads is the smaller one: nothing grows for nothing. */
Test(search, small_pads)
{
    struct maps m;
    uint32_t most[4] = {1024, 1024, 1024, 1024};
    maps_begin(&m, 4);
    maps_add(&m, "abd", 16, 10);
    maps_add(&m, "acd", 16, 5);
    maps_ready(&m);
    struct search_problem p = problem_of(&m, most);
    p.stack = 1000;
    struct search_result r = run(&p);
    cr_expect_eq(r.precise_after, 15);
    cr_expect_eq(r.pads[0] + r.pads[1] + r.pads[2] + r.pads[3], 16);
    free(r.pads);
    maps_end(&m);
}

/* Pads that cost instructions: others are preferred, they are taken if nothing else helps, but not for little of many calls. */
Test(search, dear_pads)
{
    uint32_t most[5] = {0, 64, 64, 0, 0};
    bool costly[5] = {false, true, false, false, false};
    for (unsigned rounds = 1; rounds <= 1000; rounds += 999) {
        struct maps m;
        maps_begin(&m, 5);
        for (unsigned i = 0; i < rounds; i++) {
            maps_add(&m, "abd", 16, i == 0 ? 10 : 0);
            maps_add(&m, "acd", 16, i == 0 ? 5 : 0);
        }
        if (rounds > 1)
            maps_add(&m, "ae", 16, 1000000);
        maps_ready(&m);
        struct search_problem p = problem_of(&m, most);
        p.costly = costly;
        struct search_result r = run(&p);
        cr_expect(r.pads[1] == 0 && r.pads[2] == 16);
        free(r.pads);
        most[2] = 0;
        r = run(&p);
        cr_expect_eq(r.pads[1], rounds > 1 ? 0 : 16);
        free(r.pads);
        p.costly = NULL;
        r = run(&p);
        cr_expect_eq(r.pads[1], 16);
        free(r.pads);
        most[2] = 64;
        maps_end(&m);
    }
}

Test(search, same_functions_in_another_order)
{
    struct maps m;
    uint32_t most[4] = {64, 64, 64, 64};
    maps_begin(&m, 4);
    maps_add(&m, "abcd", 16, 10);
    maps_add(&m, "acbd", 16, 5);
    maps_ready(&m);
    struct search_problem p = problem_of(&m, most);
    struct search_result r = run(&p);
    cr_expect_eq(r.precise_after, 0, "nothing parts them");
    cr_expect_eq(r.stack_after, r.stack_before, "nor is stack used for it");
    free(r.pads);

    /* Unless b's pad does not move what it calls on one of the paths. */
    bool unshifted[16] = {0};
    for (uint32_t i = 0; i < pathmap_node_count(m.map); i++) {
        struct pathmap_node at = pathmap_node(m.map, i);
        unshifted[i] = at.function == 3 && pathmap_node(m.map, at.parent).function == 1;
    }
    p.unshifted = unshifted;
    r = run(&p);
    cr_expect_eq(r.precise_after, 15);
    free(r.pads);
    maps_end(&m);
}

/* No stack for both of the CIDs of f: the heavier is made precise. */
Test(search, stack_goes_to_weight)
{
    struct maps m;
    uint32_t most[6] = {0, 16, 16, 0, 0, 0};
    maps_begin(&m, 6);
    maps_add(&m, "abf", 16, 100); /* parted from "adf" by b alone, */
    maps_add(&m, "adf", 16, 100);
    maps_add(&m, "acf", 24, 7); /* "acf" from "aef" by c, */
    maps_add(&m, "aef", 24, 7);
    maps_add(&m, "abc", 16, 0); /* both are on the longest path */
    maps_add(&m, "abcbcb", 48, 0);
    maps_ready(&m);
    struct search_problem p = problem_of(&m, most);
    p.stack = 1.4; /* 128 bytes: 51 more; b takes 32 of it, c 32 */
    struct search_result r = run(&p);
    cr_expect_eq(r.pads[1], 16);
    cr_expect_eq(r.pads[2], 0);
    cr_expect_eq(r.precise_after, 200);
    cr_expect_leq(r.stack_after, 179);
    free(r.pads);
    maps_end(&m);
}

/* Nothing is precise twice, no pad too large, no stack too long: whatever the map, seed and search. */
static void check_round(const struct maps *m, uint64_t round, bool random, uint64_t *won)
{
    uint32_t most[FUNCTIONS], zero[FUNCTIONS] = {0};
    uint64_t state = round;
    for (unsigned f = 0; f < FUNCTIONS; f++)
        most[f] = (uint32_t)(hash_random(&state) % 4 ? 16 * (hash_random(&state) % 20) : 0);
    bool *unshifted = calloc(pathmap_node_count(m->map) + 1ul, sizeof *unshifted);
    for (uint32_t i = 0; i < pathmap_node_count(m->map); i++) {
        struct pathmap_node at = pathmap_node(m->map, i);
        unshifted[i] =
            at.site == 1 && at.parent != PATHMAP_NONE && pathmap_node(m->map, at.parent).function % 3 == 0;
    }
    struct search_problem p = problem_of(m, most);
    p.unshifted = round % 2 ? unshifted : NULL;
    p.stack = 1 + (double)(round % 5) * 0.2;
    p.seed = round;
    p.random = random;
    p.steps = 3000;
    struct search_result r = run(&p), again = run(&p);
    cr_assert_arr_eq(r.pads, again.pads, sizeof most, "round %llu: the same seed", (unsigned long long)round);
    cr_assert_eq(r.steps, again.steps);
    for (unsigned f = 0; f < FUNCTIONS; f++)
        cr_assert(r.pads[f] <= most[f] && r.pads[f] % 16 == 0);
    struct maps_count before = maps_count(m->map, zero, p.unshifted),
                      after = maps_count(m->map, r.pads, p.unshifted);
    cr_assert_eq(r.weight, before.weight);
    cr_assert_eq(r.paths_before, before.paths);
    cr_assert_eq(r.paths, after.paths);
    cr_assert_eq(r.precise_before, before.precise);
    cr_assert_eq(r.precise_after, after.precise);
    cr_assert_eq(r.paths_precise_before, before.paths_precise);
    cr_assert_eq(r.paths_precise_after, after.paths_precise);
    cr_assert_eq(r.stack_before, before.deepest);
    cr_assert_eq(r.stack_after, after.deepest);
    cr_assert_leq((double)r.stack_after, p.stack * r.stack_before);
    *won += r.precise_after;
    free(r.pads);
    free(again.pads);
    free(unshifted);
}

Test(search, random_maps)
{
    uint64_t by_gain = 0, by_chance = 0, before = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct maps m;
        uint32_t zero[FUNCTIONS] = {0};
        maps_begin(&m, FUNCTIONS);
        maps_grow(&m, round, (unsigned)round * 8);
        maps_ready(&m);
        check_round(&m, round, false, &by_gain);
        check_round(&m, round, true, &by_chance);
        before += maps_count(m.map, zero, NULL).precise;
        maps_end(&m);
    }
    cr_expect_gt(by_gain, by_chance, "all in all, gain finds more than chance");
    cr_expect_gt(by_chance, before, "and chance more than nothing");
}

Test(search, target_and_limits)
{
    struct maps m;
    uint32_t most[FUNCTIONS];
    maps_begin(&m, FUNCTIONS);
    maps_grow(&m, 7, 400);
    maps_ready(&m);
    for (unsigned f = 0; f < FUNCTIONS; f++)
        most[f] = 256;
    struct search_problem p = problem_of(&m, most);
    struct search_result all = run(&p);
    p.target = (double)all.precise_before / (double)all.weight;
    struct search_result none = run(&p);
    cr_expect_eq(none.steps, 0, "the target was reached before");
    p.target = 1;
    p.steps = 40;
    struct search_result few = run(&p);
    cr_expect_leq(few.steps, 40 + 16);
    cr_expect_geq(few.precise_after, few.precise_before);
    p.steps = 0;
    p.seconds = 1e-9;
    struct search_result soon = run(&p);
    cr_expect_leq(soon.steps, 16);
    free(all.pads);
    free(none.pads);
    free(few.pads);
    free(soon.pads);
    maps_end(&m);
}

Test(search, empty_map)
{
    struct maps m;
    maps_begin(&m, 1);
    maps_ready(&m);
    uint32_t most[1] = {16};
    for (int random = 0; random < 2; random++) {
        struct search_problem p = problem_of(&m, most);
        p.random = random;
        struct search_result r = run(&p);
        cr_expect_eq(r.weight, 0);
        cr_expect_eq(r.pads[0], 0);
        free(r.pads);
    }
    maps_end(&m);
}

Test(search, bad_problems)
{
    struct maps m;
    maps_begin(&m, 2);
    maps_add(&m, "ab", 16, 1);
    maps_ready(&m);
    uint32_t most[2] = {16, 32}, odd[2] = {16, 20};
    const struct search_problem good = problem_of(&m, most);
    struct search_problem bad[] = {good, good, good, good, good, good, good};
    bad[0].stack = 0.99;
    bad[1].stack = NAN;
    bad[2].target = 1.01;
    bad[3].target = -1;
    bad[4].seconds = -1;
    bad[5].most = odd;
    bad[6].target = NAN;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct search_result r;
        struct fathom_error err = {0};
        cr_expect_eq(search_run(&bad[i], &r, &err), -EINVAL, "%u", i);
        cr_expect(err.text[0]);
    }
    maps_end(&m);
}
