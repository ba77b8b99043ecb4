/* Which heights functions can stand at: known answers. That no path is lost is held by test_automaton_random.
 */
#include <criterion/criterion.h>

#include "infer/reach.h"
#include "tests/infer/rig.h"

/* a at 16 calls b at +32, b itself at +48; c is called by b at +4096, by nobody that training saw. */
static void begin(struct rig *r)
{
    rig_begin(r);
    uint32_t a = rig_child(r, TRIE_ROOT, 0, 16, 4, 0);
    rig_child(r, rig_child(r, a, 1, 48, 3, 1), 1, 96, 2, 1);
    rig_finish(r);
}

Test(reach, calls_add_up)
{
    struct rig r;
    begin(&r);
    uint32_t *f = r.numbers;
    struct graph_call calls[] = {{f[2], {f[1], 4096, 0, 1, false}}, {f[3], {f[1], 20, 0, 1, false}}};
    rig_use(&r, &(struct graph_calls){.calls = calls, .count = 2}, NULL);
    struct reach *reach = reach_new(r.graph, false);
    cr_assert_eq(reach_extend(reach, 100), 0);
    cr_assert_eq(reach_extend(reach, 20000), 0);
    for (uint32_t height = 0; height < 20000; height += 8) {
        cr_expect_eq(reach_possible(reach, f[0], height), height == 16, "a at %u", height);
        cr_expect_eq(reach_possible(reach, f[1], height), height >= 48 && height % 48 == 0, "b at %u",
                     height);
        cr_expect_eq(reach_possible(reach, f[2], height), height >= 4144 && (height - 4096) % 48 == 0,
                     "c at %u", height);
        cr_expect_not(reach_possible(reach, f[4], height));
    }
    cr_expect(reach_possible(reach, f[3], 48 + 20), "a rise that is no multiple of 8");
    cr_expect(reach_possible(reach, f[4], REACH_BYTES), "not looked into");
    cr_expect(reach_possible(reach, f[4], UINT32_MAX));
    reach_free(reach);
    rig_end(&r);
}

Test(reach, last_resorts_are_asked_for)
{
    struct rig r;
    begin(&r);
    uint32_t *f = r.numbers, targets[] = {f[4], f[5]};
    struct graph_call open = {f[2], {f[0], 16, 0, 1, true}};
    struct graph_edge through = {f[1], 64, 0, 1, false};
    struct graph_class class = {&through, 1, targets, 2};
    rig_use(&r, &(struct graph_calls){.calls = &open, .count = 1, .classes = &class, .class_count = 1}, NULL);
    struct reach *plain = reach_new(r.graph, false), *all = reach_new(r.graph, true);
    cr_assert_eq(reach_extend(plain, 2000), 0);
    cr_assert_eq(reach_extend(all, 2000), 0);
    for (uint32_t height = 0; height < 2000; height += 8) {
        cr_expect_not(reach_possible(plain, f[2], height));
        cr_expect_not(reach_possible(plain, f[5], height));
        cr_expect_eq(reach_possible(all, f[2], height), height >= 32, "c at %u", height);
        cr_expect_eq(reach_possible(all, f[5], height), height >= 112 && (height - 64) % 48 == 0, "f at %u",
                     height);
        cr_expect_eq(reach_possible(all, f[1], height), reach_possible(plain, f[1], height));
    }
    reach_free(plain);
    reach_free(all);
    rig_end(&r);
}
