/* The height automaton: known answers. */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/infer/rig.h"

Test(automaton, finds_a_path_that_was_never_walked)
{
    struct rig r;
    rig_begin(&r);
    /* a-b-d and a-c were seen, and c-d under x: a-c-d never. */
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 10, 0);
    rig_child(&r, rig_child(&r, a, 1, 48, 5, 0), 3, 80, 5, 5);
    rig_child(&r, a, 2, 112, 5, 5);
    rig_child(&r, rig_child(&r, rig_child(&r, a, 4, 32, 1, 0), 2, 64, 1, 0), 3, 160, 1, 1);
    rig_finish(&r);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[3], 112 + 96, &answer), 0);
    cr_expect_eq(answer.best, 1u);
    cr_expect_float_eq(answer.probability[0], 1, 1e-6);
    cr_expect_str_eq(rig_letters(&r, 3, 112 + 96, 0), "acd");
    cr_expect_eq(automaton_find(r.automaton, r.numbers[3], 120, &answer), -ENOENT,
                 "no sum of rises gives 120");
    rig_end(&r);
}

Test(automaton, counts_what_enumeration_could_not)
{
    /* a calls itself at 16 or 32 bytes a time: the number of paths to a height is a Fibonacci number. */
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 1, 0);
    rig_child(&r, a, 0, 32, 3, 3);
    rig_child(&r, a, 0, 48, 1, 1);
    rig_finish(&r);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 16 * 70, &answer), 0);
    cr_expect_eq(answer.best, AUTOMATON_BEST);
    for (uint32_t i = 1; i < answer.best; i++)
        cr_expect_leq(answer.probability[i], answer.probability[i - 1]);
    cr_expect_lt(automaton_states(r.automaton), 200u);
    rig_end(&r);
}

Test(automaton, the_caller_of_the_caller_decides)
{
    /* d is called by b and c alike. b is called by d's caller... e calls through b only, f through c only,
     * both at the same heights. */
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 200, 0);
    uint32_t b = rig_child(&r, a, 1, 48, 100, 0), c = rig_child(&r, a, 2, 48, 100, 0);
    rig_child(&r, rig_child(&r, b, 3, 80, 100, 0), 4, 112, 100, 100);
    rig_child(&r, rig_child(&r, c, 3, 80, 100, 0), 5, 112, 100, 100);
    rig_finish(&r);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[4], 112, &answer), 0);
    cr_expect_eq(answer.best, 2u);
    /* The states know what their function called next, so d-before-e is told from d-before-f. */
    cr_expect_str_eq(rig_letters(&r, 4, 112, 0), "abde");
    cr_expect_gt(answer.probability[0], 0.9);
    cr_assert_eq(automaton_find(r.automaton, r.numbers[5], 112, &answer), 0);
    cr_expect_str_eq(rig_letters(&r, 5, 112, 0), "acdf");
    rig_end(&r);
}

/* a ran b 60 times, which called nothing, and c 40 times, which called four functions. The binary shows that
 * both call h. */
Test(automaton, callers_of_many_are_likelier_to_call_what_was_not_seen)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 100, 0);
    rig_child(&r, a, 1, 32, 60, 60);
    uint32_t c = rig_child(&r, a, 2, 32, 40, 0);
    for (unsigned f = 3; f < 7; f++)
        rig_child(&r, c, f, 48, 10, 10);
    rig_finish(&r);
    struct static_edge calls[] = {{r.numbers[7], r.numbers[1], 32, false, 0, 0},
                                  {r.numbers[7], r.numbers[2], 32, false, 0, 0}};
    rig_use(&r, &(struct statics){.edges = calls, .count = 2}, NULL);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[7], 64, &answer), 0);
    cr_assert_eq(answer.best, 2u);
    cr_expect_str_eq(rig_letters(&r, 7, 64, 0), "ach");
    double b_calls = 60.0 * 1 / (60 + 1), c_calls = 40.0 * 4 / (40 + 4);
    cr_expect_float_eq(answer.probability[0], c_calls / (b_calls + c_calls), 1e-6);
    rig_end(&r);
}

Test(automaton, as_many_paths_as_asked_for)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 1, 0);
    rig_child(&r, a, 0, 32, 3, 3);
    rig_child(&r, a, 0, 48, 1, 1);
    rig_finish(&r);
    struct automaton_answer few, many, all;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 16 * 12, &few), 0);
    rig_use(&r, NULL, &(struct automaton_options){.best = 40});
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 16 * 12, &many), 0);
    cr_expect_eq(few.best, AUTOMATON_BEST);
    cr_expect_eq(many.best, 40u);
    rig_use(&r, NULL, &(struct automaton_options){.best = 64});
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 16 * 9, &all), 0);
    cr_expect_eq(all.best, 55u, "Fibonacci's tenth number: there are no more");
    double sum = 0;
    for (uint32_t i = 0; i < all.best; i++)
        sum += all.probability[i];
    cr_expect_float_eq(sum, 1, 1e-6);
    for (uint32_t i = 0; i < few.best; i++)
        cr_expect_float_eq(few.probability[i], many.probability[i], 1e-6);
    rig_use(&r, NULL, &(struct automaton_options){.best = 1000});
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 16 * 12, &many), 0);
    cr_expect_eq(many.best, AUTOMATON_BEST_MAX);
    rig_end(&r);
}

/* Two that call each other and themselves in every way: states grow with the height. */
static void tangle(struct rig *r)
{
    rig_begin(r);
    uint32_t a = rig_child(r, TRIE_ROOT, 0, 16, 4, 0), b = rig_child(r, a, 1, 48, 3, 1);
    rig_child(r, a, 0, 32, 2, 1);
    rig_child(r, b, 1, 64, 2, 1);
    rig_child(r, b, 0, 96, 1, 1);
    rig_finish(r);
}

Test(automaton, with_little_memory_it_finds_the_same_as_far_as_it_goes)
{
    struct rig r;
    struct automaton_answer plenty, little;
    tangle(&r);
    double chance[40], best[40];
    for (unsigned i = 0; i < 40; i++) {
        cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 400 + 1024 * i, &plenty), 0);
        chance[i] = plenty.chance;
        best[i] = plenty.probability[0];
    }
    rig_use(&r, NULL, &(struct automaton_options){.bytes = 200000});
    unsigned found = 0;
    for (unsigned i = 0; i < 40; i++) {
        int rc = automaton_find(r.automaton, r.numbers[0], 400 + 1024 * i, &little);
        cr_assert(rc == -ENOSPC || (rc == 0 && found == i), "%u: %d", i, rc);
        if (rc)
            continue;
        found++;
        cr_expect_eq(little.chance, chance[i]);
        cr_expect_float_eq(little.probability[0], best[i], 1e-6);
        struct automaton_step steps[1];
        cr_expect_gt(rig_path(&r, r.numbers[0], 400 + 1024 * i, 0, steps, 1), 10u);
    }
    cr_expect_gt(found, 5u);
    cr_expect_lt(found, 40u);
    cr_expect_leq(automaton_bytes(r.automaton), 300000u);
    cr_expect_eq(automaton_find(r.automaton, r.numbers[0], 400, &little), 0, "asked again");
    cr_expect_eq(little.chance, chance[0]);
    rig_end(&r);
}

Test(automaton, with_little_work_it_finds_the_same_as_far_as_it_goes)
{
    struct rig r;
    struct automaton_answer plenty[40], little;
    struct automaton_cid cids[40];
    const uint64_t steps = 3000;
    tangle(&r);
    for (unsigned i = 0; i < 40; i++) {
        cids[i] = (struct automaton_cid){r.numbers[0], 400 + 128 * i};
        cr_assert_eq(automaton_find(r.automaton, r.numbers[0], cids[i].height, &plenty[i]), 0);
    }
    for (uint64_t allowed = steps; allowed <= 1000 * steps; allowed *= 10) {
        struct work work = {allowed};
        rig_use(&r, NULL, &(struct automaton_options){.cids = cids, .cid_count = 40, .work = &work});
        unsigned found = 0;
        for (unsigned i = 0; i < 40; i++) {
            int rc = automaton_find(r.automaton, r.numbers[0], cids[i].height, &little);
            cr_assert(rc == -ENOSPC || (rc == 0 && found == i), "%u: %d", i, rc);
            if (rc == 0) {
                cr_expect_eq(little.chance, plenty[i].chance);
                cr_expect_float_eq(little.probability[0], plenty[i].probability[0], 1e-6);
                found++;
            }
        }
        bool little_work = allowed == steps, plenty_of_it = allowed == 1000 * steps;
        cr_expect(!little_work || (found < 40 && work.left == 0), "%u", found);
        cr_expect(!plenty_of_it || (found == 40 && work.left > 0), "%u", found);
        /* What is done is bounded by what is allowed: states cost a step at least. */
        cr_expect_leq(automaton_states(r.automaton), allowed);
    }
    rig_end(&r);
}

/* A thousand calls deep, each one of four that are alike: 2 to the -2000th is below what a double holds. */
Test(automaton, probabilities_of_very_deep_paths)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 1, 0);
    for (unsigned f = 1; f < 5; f++) {
        rig_child(&r, a, f, 32, 1, 0);
        rig_child(&r, rig_child(&r, a, f, 32, 0, 0), 0, 48, 1, 1);
    }
    rig_finish(&r);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 32 * 500, &answer), 0);
    cr_expect_eq(answer.best, AUTOMATON_BEST);
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 16 + 32 * 1000, &answer), 0);
    cr_expect_eq(answer.best, AUTOMATON_BEST);
    struct automaton_step steps[3];
    cr_expect_eq(rig_path(&r, r.numbers[0], 16 + 32 * 1000, 0, steps, 3), 2001u);
    cr_expect_eq(steps[2].height, 16u + 32 * 1000);
    cr_expect_eq(steps[0].height, 16u + 32 * 999);
    cr_expect_eq(steps[0].function, r.numbers[0]);
    rig_end(&r);
}

Test(automaton, asked_again_it_answers_the_same)
{
    struct rig r;
    struct automaton_answer first, again;
    tangle(&r);
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 1616, &first), 0);
    char path[64];
    strcpy(path, rig_letters(&r, 0, 112, 1));
    cr_expect_eq(automaton_find(r.automaton, r.numbers[2], 112, &again), -ENOENT);
    cr_expect_eq(automaton_find(r.automaton, r.numbers[2], 112, &again), -ENOENT);
    cr_assert_eq(automaton_find(r.automaton, r.numbers[0], 1616, &again), 0);
    cr_expect_eq(again.chance, first.chance);
    cr_expect_eq(again.best, first.best);
    cr_expect_arr_eq(again.probability, first.probability, first.best * sizeof *first.probability);
    cr_expect_str_eq(rig_letters(&r, 0, 112, 1), path, "another CID was searched meanwhile");
    rig_end(&r);
}

/* c calls what it is given: d, which nobody was seen to call, may be that; so may e, which b calls
 * directly. */
Test(automaton, pointers_are_the_last_resort)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 10, 0);
    rig_child(&r, a, 1, 48, 6, 0);
    rig_child(&r, a, 2, 64, 4, 4);
    rig_finish(&r);
    uint32_t *f = r.numbers, targets[] = {f[3], f[4]};
    struct static_edge direct = {f[4], f[1], 32, false, 0x77, 0};
    struct static_edge through[] = {{0, f[2], 32, false, 0x99, 0}, {0, f[1], 32, false, 0x88, 0}};
    struct static_class class = {0, 1, through, 2, targets, 2};
    struct statics calls = {.edges = &direct, .count = 1, .classes = &class, .class_count = 1};
    rig_use(&r, &calls, NULL);
    struct automaton_answer answer;
    cr_assert_eq(automaton_find(r.automaton, f[3], 64 + 32, &answer), 0);
    cr_expect_str_eq(rig_letters(&r, 3, 64 + 32, 0), "acd");
    struct automaton_step steps[8];
    cr_assert_eq(rig_path(&r, f[3], 64 + 32, 0, steps, 8), 3u);
    cr_expect_eq(steps[2].site, 0x99u);
    cr_assert_eq(automaton_find(r.automaton, f[4], 48 + 32, &answer), 0);
    cr_expect_eq(answer.best, 1u, "the direct call is all that is asked for");
    cr_assert_eq(rig_path(&r, f[4], 48 + 32, 0, steps, 8), 3u);
    cr_expect_eq(steps[2].site, 0x77u);
    cr_assert_eq(automaton_find(r.automaton, f[4], 64 + 32, &answer), 0);
    cr_expect_str_eq(rig_letters(&r, 4, 64 + 32, 0), "ace");
    cr_expect_eq(automaton_find(r.automaton, f[3], 120, &answer), -ENOENT);
    rig_end(&r);
}

/* b's frame has no fixed size. Training saw it call c at 32 and at 64 bytes, at two heights of its own. */
Test(automaton, open_frames_take_any_size)
{
    struct rig r;
    rig_begin(&r);
    uint32_t a = rig_child(&r, TRIE_ROOT, 0, 16, 10, 0);
    uint32_t b = rig_child(&r, a, 1, 48, 6, 0),
             low = rig_child(&r, rig_child(&r, a, 2, 32, 4, 0), 1, 400, 4, 0);
    rig_child(&r, b, 3, 80, 3, 3);
    rig_child(&r, low, 3, 464, 3, 3);
    rig_finish(&r);
    uint32_t *f = r.numbers;
    struct static_edge open = {f[3], f[1], 16, true, 0x55, 0};
    struct statics calls = {.edges = &open, .count = 1};
    struct automaton_answer answer;
    cr_expect_eq(automaton_find(r.automaton, f[3], 160, &answer), -ENOENT);
    rig_use(&r, &calls, NULL);
    cr_assert_eq(automaton_find(r.automaton, f[3], 160, &answer), 0);
    cr_expect_str_eq(rig_letters(&r, 3, 160, 0), "ab~d");
    cr_assert_eq(automaton_find(r.automaton, f[3], 496, &answer), 0);
    cr_expect_eq(answer.best, 2u, "b at 48 and at 400");
    cr_assert_eq(automaton_find(r.automaton, f[3], 464, &answer), 0);
    cr_expect_str_eq(rig_letters(&r, 3, 464, 0), "acbd", "a rise that was seen comes first");
    cr_expect_eq(automaton_find(r.automaton, f[3], 56, &answer), -ENOENT, "16 bytes are the least");
    /* e was never seen: its heights are those that its callers leave it. */
    struct static_edge calls_of_e[] = {{f[3], f[4], 16, true, 0x55, 0}, {f[4], f[0], 64, false, 0x66, 0}};
    rig_use(&r, &(struct statics){.edges = calls_of_e, .count = 2}, NULL);
    cr_assert_eq(automaton_find(r.automaton, f[3], 16 + 64 + 16 + 160, &answer), 0);
    cr_expect_str_eq(rig_letters(&r, 3, 16 + 64 + 16 + 160, 0), "ae~d");
    cr_expect_eq(automaton_find(r.automaton, f[3], 16 + 64 + 16 + 168, &answer), -ENOENT, "16 bytes a step");
    rig_end(&r);
}

/* Rises that damaged tables can give: none leads round in a circle. */
Test(automaton, nonsense_ends)
{
    struct rig r;
    rig_begin(&r);
    rig_child(&r, rig_child(&r, TRIE_ROOT, 0, 16, 2, 0), 1, 48, 1, 1);
    rig_finish(&r);
    uint32_t *f = r.numbers;
    const uint32_t rises[] = {0, 1, 7, 8, UINT32_MAX, UINT32_MAX - 15, 1u << 31};
    enum { RISES = sizeof rises / sizeof *rises };
    struct static_edge calls[4 * RISES];
    uint32_t targets[] = {f[2], f[3]};
    struct static_edge through[2 * RISES];
    size_t count = 0;
    for (size_t i = 0; i < RISES; i++) {
        through[2 * i] = (struct static_edge){0, f[2], rises[i], false, 0, 0};
        through[2 * i + 1] = (struct static_edge){0, f[3], rises[i], true, 0, 0};
        for (int open = 0; open < 2; open++) {
            calls[count++] = (struct static_edge){f[2], f[3], rises[i], open, 0, 0};
            calls[count++] = (struct static_edge){f[3], f[2], rises[i], open, 0, 0};
        }
    }
    struct static_class class = {0, 1, through, 2 * RISES, targets, 2};
    rig_use(&r, &(struct statics){.edges = calls, .count = count, .classes = &class, .class_count = 1}, NULL);
    struct automaton_answer answer;
    cr_expect_eq(automaton_find(r.automaton, f[2], 4096, &answer), -ENOENT);
    cr_expect_eq(automaton_find(r.automaton, f[3], 0, &answer), -ENOENT);
    int rc = automaton_find(r.automaton, f[2], UINT32_MAX, &answer);
    cr_expect(rc == -ENOENT || rc == -ENOSPC, "%d", rc);
    rig_end(&r);
}
