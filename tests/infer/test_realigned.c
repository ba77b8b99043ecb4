/* Paths through signal handlers at other heights than training saw them: known answers. */
#include <criterion/criterion.h>

#include "infer/model/realigned.h"
#include "pathmap/map/partial.h"
#include "pathmap/map/trie.h"
#include "process/partial.h"

enum { RUN, RETURN, HANDLER, LEAF, FUNCTIONS };

/* run;return;handler;leaf at 16, 32, 1024 and 1040 bytes, where `return` is what signal handlers return to and its
 * function starts one byte early; and leaf at 2048 in run. */
struct rig {
    struct trie *trie;
    struct pathmap *map;
    uint32_t numbers[FUNCTIONS];
};

/* site: of the handler's return; name: of the function that it is in. */
static struct rig begin_with(uint64_t site, const char *name)
{
    struct rig r = {.trie = trie_new()};
    struct build_id id = {4, {1, 2, 3, 4}};
    uint32_t image = trie_image(r.trie, "/bin/program", &id), functions[FUNCTIONS];
    for (unsigned i = 0; i < FUNCTIONS; i++)
        functions[i] = trie_function(r.trie, image, 0x1000 + 0x100 * i, i == RETURN ? name : NULL);
    uint32_t run = trie_child(r.trie, TRIE_ROOT, functions[RUN], 16, 0);
    uint32_t back = trie_child(r.trie, run, functions[RETURN], 32, 0x1010);
    uint32_t handler = trie_child(r.trie, back, functions[HANDLER], 1024, site);
    trie_add_path(r.trie, trie_child(r.trie, handler, functions[LEAF], 1040, 0x1220));
    trie_add_path(r.trie, trie_child(r.trie, run, functions[LEAF], 2048, 0x1020));
    void *data;
    size_t size;
    cr_assert_eq(trie_serialise(r.trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &r.map, NULL), 0);
    uint32_t number = pathmap_find_image(r.map, "/bin/program", &id, NULL);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        r.numbers[i] = pathmap_find_function(r.map, number, 0x1000 + 0x100 * i);
    return r;
}

static struct rig begin(bool handled)
{
    return begin_with(handled ? 0x1101 : 0x1110, NULL);
}

static void end(struct rig *r)
{
    pathmap_close(r->map);
    trie_free(r->trie);
}

static size_t find(const struct rig *r, uint32_t height, struct realigned *out)
{
    return realigned_find(r->map, r->numbers[LEAF], height, out, 4);
}

Test(realigned, what_is_below_the_signal_frame_moves_with_it)
{
    struct rig r = begin(true);
    struct realigned found[4];
    struct automaton_step steps[4];
    cr_expect(realigned_any(r.map));
    for (int by = -48; by <= 48; by += 16) {
        if (by == 0)
            continue;
        cr_assert_eq(find(&r, (uint32_t)(1040 + by), found), 1, "%d bytes", by);
        cr_assert_eq(realigned_path(r.map, found[0], steps, 4), 4);
        cr_expect_eq(steps[0].height, 16);
        cr_expect_eq(steps[1].height, 32);
        cr_expect_eq(steps[2].height, (uint32_t)(1024 + by));
        cr_expect_eq(steps[3].height, (uint32_t)(1040 + by));
        cr_expect_eq(steps[3].function, r.numbers[LEAF]);
        cr_expect_eq(steps[3].site, 0x1220);
    }
    end(&r);
}

Test(realigned, by_less_than_64_bytes_and_multiples_of_16)
{
    struct rig r = begin(true);
    struct realigned found[4];
    cr_expect_eq(find(&r, 1040 + 64, found), 0);
    cr_expect_eq(find(&r, 1040 - 64, found), 0);
    cr_expect_eq(find(&r, 1040 + 8, found), 0);
    end(&r);
}

Test(realigned, not_where_the_map_has_the_cid_or_no_signal_frame)
{
    struct rig r = begin(true);
    struct realigned found[4];
    cr_expect_eq(find(&r, 1040, found), 0);
    cr_expect_eq(find(&r, 2048 + 16, found), 0);
    end(&r);
}

Test(realigned, an_ordinary_call_is_no_handler)
{
    struct rig r = begin(false);
    struct realigned found[4];
    cr_expect_not(realigned_any(r.map));
    cr_expect_eq(find(&r, 1040 + 16, found), 0);
    end(&r);
}

Test(realigned, a_path_that_is_too_long_is_none)
{
    struct rig r = begin(true);
    struct realigned found[4];
    struct automaton_step steps[4];
    cr_assert_eq(find(&r, 1040 + 16, found), 1);
    cr_expect_eq(realigned_path(r.map, found[0], steps, 3), 0);
    end(&r);
}

Test(realigned, hooks_do_not_tell_the_site_but_the_name)
{
    struct rig named = begin_with(0, "__restore_rt"), other = begin_with(0, "other"),
               none = begin_with(0, NULL);
    cr_expect(realigned_any(named.map));
    cr_expect_not(realigned_any(other.map));
    cr_expect_not(realigned_any(none.map));
    end(&named);
    end(&other);
    end(&none);
}

/* leaf was seen twice, at two nodes: (1 + 1) / (2 + 2), at one of four heights. */
Test(realigned, as_likely_as_its_share_at_one_of_four_heights)
{
    struct rig r = begin(true);
    struct realigned found[4];
    cr_assert_eq(find(&r, 1040 + 16, found), 1);
    cr_expect_float_eq(realigned_chance(r.map, found[0].node), 0.125, 1e-9);
    end(&r);
}

/* The handler is the outermost function, on an alternate stack: in the thread's own, its height moves; elsewhere it is that of all. */
static size_t find_outermost(uint32_t height, uint32_t asked)
{
    struct rig r = {.trie = trie_new()};
    struct build_id id = {4, {1, 2, 3, 4}};
    struct realigned found[4];
    void *data;
    size_t size;
    const uint32_t image = trie_image(r.trie, "/bin/program", &id),
                   handler = trie_function(r.trie, image, 0x1000, NULL),
                   leaf = trie_function(r.trie, image, 0x2000, NULL);
    uint32_t node = trie_child(r.trie, partial_node(r.trie, PARTIAL_SIGNAL), handler, height, 0);
    trie_add_path(r.trie, trie_child(r.trie, node, leaf, height + 16, 0x1010));
    cr_assert_eq(trie_serialise(r.trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &r.map, NULL), 0);
    r.numbers[LEAF] =
        pathmap_find_function(r.map, pathmap_find_image(r.map, "/bin/program", &id, NULL), 0x2000);
    const size_t count = find(&r, asked, found);
    end(&r);
    return count;
}

Test(realigned, a_handler_that_is_outermost_moves_on_a_threads_own_stack)
{
    cr_expect_eq(find_outermost(3200, 3216 + 32), 1);
    cr_expect_eq(find_outermost(3200, 3216 + 64), 0);
    cr_expect_eq(find_outermost(UNWIND_SIGNAL_HEIGHT, UNWIND_SIGNAL_HEIGHT + 16 + 32), 0);
}
