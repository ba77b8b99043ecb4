/* test_ambiguity.c - what is precise, and which method would part what: on maps whose answers are known. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "disambig/ambiguity/ambiguity.h"
#include "tests/disambig/maps.h"

static struct ambiguity measure(const struct maps *m, const uint32_t *most)
{
    struct ambiguity a;
    cr_assert_eq(ambiguity_measure(m->map, most, NULL, &a, NULL), 0);
    return a;
}

Test(ambiguity, each_method)
{
    struct maps m;
    maps_begin(&m, 8);
    maps_add(&m, "abg", 16, 10); /* other functions: resize */
    maps_add(&m, "acg", 16, 5);
    maps_add(&m, "abcdg", 16, 3); /* another order: wrap */
    maps_add(&m, "acbdg", 16, 2);
    maps_add(&m, "abcbcbbg", 16, 2); /* the same calls in another order: clone */
    maps_add(&m, "abbcbcbg", 16, 1);
    maps_add(&m, "ah", 16, 7);
    maps_ready(&m);
    struct ambiguity a = measure(&m, NULL);
    cr_expect(a.sampled);
    cr_expect_eq(a.all.weight, 30);
    cr_expect_eq(a.precise.weight, 7);
    cr_expect_eq(a.ceilings[AMBIGUITY_RESIZE].weight, 22);
    cr_expect_eq(a.ceilings[AMBIGUITY_WRAP].weight, 27);
    cr_expect_eq(a.ceilings[AMBIGUITY_CLONE].weight, 30);
    cr_expect_eq(a.ceilings[AMBIGUITY_CLONE].paths, a.all.paths);
    cr_assert_geq(a.count, 3);
    cr_expect_eq(a.cids[0].weight, 15);
    cr_expect_eq(a.cids[0].paths, 2);
    cr_expect_eq(a.cids[0].height, 48);
    cr_expect_eq(a.cids[0].method, AMBIGUITY_RESIZE);
    cr_expect_eq(a.cids[1].weight, 5);
    cr_expect_eq(a.cids[1].method, AMBIGUITY_WRAP);
    cr_expect_eq(a.cids[2].weight, 3);
    cr_expect_eq(a.cids[2].method, AMBIGUITY_CLONE);

    struct ambiguity_function *functions;
    uint32_t count;
    cr_assert_eq(ambiguity_functions(m.map, &a.cids[0], &functions, &count, NULL), 0);
    cr_assert_eq(count, 2, "b and c");
    cr_expect(functions[0].function == 1 && functions[0].least == 0 && functions[0].greatest == 1);
    cr_expect(functions[1].function == 2 && functions[1].least == 0 && functions[1].greatest == 1);
    free(functions);
    cr_assert_eq(ambiguity_functions(m.map, &a.cids[1], &functions, &count, NULL), 0);
    cr_expect_eq(count, 0, "the order alone");
    free(functions);
    ambiguity_clear(&a);

    uint32_t most[8] = {16, 0, 0, 16, 16, 16, 16, 16}; /* neither b nor c */
    a = measure(&m, most);
    cr_expect_eq(a.ceilings[AMBIGUITY_RESIZE].weight, 7);
    cr_expect_eq(a.cids[0].method, AMBIGUITY_WRAP);
    ambiguity_clear(&a);
    maps_end(&m);
}

Test(ambiguity, agrees_with_force)
{
    for (uint64_t round = 0; round < 20; round++) {
        struct maps m;
        uint32_t pads[12] = {0};
        maps_begin(&m, 12);
        maps_grow(&m, round, (unsigned)round * 10);
        maps_ready(&m);
        struct ambiguity a = measure(&m, NULL);
        struct maps_count c = maps_count(m.map, pads, NULL);
        cr_assert_eq(a.all.weight, c.weight);
        cr_assert_eq(a.all.paths, c.paths);
        cr_assert_eq(a.precise.weight, c.precise);
        cr_assert_eq(a.precise.paths, c.paths_precise);
        struct ambiguity_share last = a.precise;
        for (unsigned method = 0; method < AMBIGUITY_METHODS; method++) {
            cr_assert_geq(a.ceilings[method].weight, last.weight, "methods only gain");
            cr_assert_geq(a.ceilings[method].paths, last.paths);
            last = a.ceilings[method];
        }
        cr_assert_leq(last.paths, a.all.paths);
        /* With pads that no two sums of are equal by chance, all that resizing can part is apart. */
        for (unsigned f = 0; f < 12; f++)
            pads[f] = 16u * (1u + (uint32_t)(f * f * f * 7919u % 1000003u));
        c = maps_count(m.map, pads, NULL);
        cr_assert_leq(c.precise, a.ceilings[AMBIGUITY_RESIZE].weight);
        ambiguity_clear(&a);
        maps_end(&m);
    }
}

/* A function that calls itself, deep: no recursion of ours. */
Test(ambiguity, deep_recursion)
{
    struct maps m;
    maps_begin(&m, 2);
    uint32_t node = TRIE_ROOT;
    for (uint32_t i = 0; i < 200000; i++) {
        node = trie_child(m.trie, node, i % 2, 16 * (i + 1), 1);
        trie_add(m.trie, node, 1, 0);
    }
    maps_ready(&m);
    struct ambiguity a = measure(&m, NULL);
    cr_expect_eq(a.precise.paths, 200000);
    cr_expect_not(a.sampled);
    ambiguity_clear(&a);
    maps_end(&m);
}
