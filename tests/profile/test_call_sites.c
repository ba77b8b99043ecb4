/* The call sites of a path's steps: its own, or those of all nodes that it may be. */
#include <criterion/criterion.h>

#include "profile/call_sites.h"
#include "tests/infer/world.h"

/* fun0 calls fun1 at two sites, which calls fun2 at one of two. */
static struct world *two_sites(uint64_t passes)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 2, 0);
    world_child(w, world_child(w, root, 1, 16, 0x100, 1, 0), 2, 32, 0x200, passes, 0);
    world_child(w, world_child(w, root, 1, 16, 0x180, 1, 0), 2, 32, 0x200, 1, 0);
    world_finish(w);
    return w;
}

static uint32_t find_node(const struct world *w, uint64_t site)
{
    for (uint32_t node = 0; node < pathmap_node_count(w->map); node++) {
        struct pathmap_node n = pathmap_node(w->map, node);
        if (n.height == 32 && pathmap_node(w->map, n.parent).site == site)
            return node;
    }
    cr_assert_fail("no such node");
    return 0;
}

static void expect(const struct call_step *step, uint32_t count, uint64_t first)
{
    cr_expect_eq(step->count, count);
    cr_expect_eq(step->sites[0], first);
    cr_expect_not(step->more);
}

Test(call_sites, an_unwound_path_has_its_own)
{
    struct world *w = two_sites(1);
    struct call_sites sites = {0};
    for (uint64_t site = 0x100; site <= 0x180; site += 0x80) {
        cr_assert_eq(call_sites_find(&sites, w->map, find_node(w, site), PATH_SITES_OWN, NULL), 0);
        cr_assert_eq(sites.count, 2);
        expect(&sites.steps[0], 1, site);
        expect(&sites.steps[1], 1, 0x200);
        cr_expect(sites.steps[0].own);
    }
    call_sites_clear(&sites);
    world_close(w);
}

Test(call_sites, one_that_was_compared_has_those_of_its_node_or_alike)
{
    struct world *w = two_sites(1);
    struct call_sites sites = {0};
    for (uint64_t site = 0x100; site <= 0x180; site += 0x80) {
        cr_assert_eq(call_sites_find(&sites, w->map, find_node(w, site), PATH_SITES_ALIKE, NULL), 0);
        expect(&sites.steps[0], 1, site);
        cr_expect_not(sites.steps[0].own);
    }
    call_sites_clear(&sites);
    world_close(w);
}

Test(call_sites, any_other_has_those_of_all_nodes_that_were_seen)
{
    struct call_sites sites = {0};
    for (uint64_t passes = 0; passes < 2; passes++) {
        struct world *w = two_sites(passes);
        cr_assert_eq(call_sites_find(&sites, w->map, find_node(w, 0x180), PATH_SITES_ANY, NULL), 0);
        cr_assert_eq(sites.count, 2);
        expect(&sites.steps[0], 1 + (uint32_t)passes, passes ? sites.steps[0].sites[0] : 0x180);
        expect(&sites.steps[1], 1, 0x200);
        cr_expect_not(sites.steps[0].own);
        world_close(w);
    }
    call_sites_clear(&sites);
}

Test(call_sites, more_than_are_told_apart)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 9, 0);
    for (uint64_t i = 0; i < CALL_SITES_MOST + 1; i++)
        world_child(w, world_child(w, root, 1, 16, 0x100 + i, 1, 0), 2, 32, 0x200, 1, 0);
    world_finish(w);
    struct call_sites sites = {0};
    cr_assert_eq(call_sites_find(&sites, w->map, find_node(w, 0x100), PATH_SITES_ANY, NULL), 0);
    cr_expect_eq(sites.steps[0].count, CALL_SITES_MOST);
    cr_expect(sites.steps[0].more);
    expect(&sites.steps[1], 1, 0x200);
    call_sites_clear(&sites);
    world_close(w);
}
