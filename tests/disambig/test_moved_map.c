/* test_moved_map.c - the map of a program whose frames have grown, and what is measured of it, on small maps. */
#include <criterion/criterion.h>
#include <errno.h>

#include "disambig/measured.h"
#include "disambig/moved_map.h"

static const struct build_id before = {4, {1, 2, 3, 4}}, after = {4, {5, 6, 7, 8}}, other = {4, {9, 9, 9, 9}};

/* main calls a and b, both of which call c; a through a function of another image, too. */
struct tree {
    struct trie *trie;
    uint32_t main, a, b, c, outside;
};

static struct tree plant(const struct build_id *id, const char *path, const uint32_t *heights)
{
    struct tree t = {.trie = trie_new()};
    uint32_t image = trie_image(t.trie, path, id), library = trie_image(t.trie, "/lib/libx.so", &other);
    trie_set_hooked(t.trie, image);
    t.main = trie_function(t.trie, image, 0x1000, "main");
    t.a = trie_function(t.trie, image, 0x2000, "a");
    t.b = trie_function(t.trie, image, 0x3000, "b");
    t.c = trie_function(t.trie, image, 0x4000, "c");
    t.outside = trie_function(t.trie, library, 0x1000, "outside");
    uint32_t m = trie_child(t.trie, TRIE_ROOT, t.main, heights[0], 0);
    uint32_t a = trie_child(t.trie, m, t.a, heights[1], 0x1010);
    uint32_t b = trie_child(t.trie, m, t.b, heights[2], 0x1020);
    trie_add(t.trie, trie_child(t.trie, a, t.c, heights[3], 0x2010), 30, 3);
    trie_add(t.trie, trie_child(t.trie, b, t.c, heights[4], 0x3010), 40, 4);
    uint32_t out = trie_child(t.trie, a, t.outside, heights[5], 0x2020);
    uint32_t inner = trie_child(t.trie, out, t.c, heights[6], 0);
    trie_add(t.trie, inner, 50, 5);
    trie_add_pc(t.trie, inner, 12, 5);
    return t;
}

static const uint32_t heights[] = {16, 64, 64, 96, 96, 96, 160};

static struct pathmap *over(const struct tree *t)
{
    struct pathmap *map;
    cr_assert_eq(pathmap_over(t->trie, &map, NULL), 0);
    return map;
}

/* The numbers of the map's functions are the trie's. */
static struct moved_map request(const struct pathmap *map, const uint32_t *pads, const bool *unshifted)
{
    return (struct moved_map){map,       NULL,   pathmap_find_image(map, "/bin/p", &before, NULL),
                              "/tmp/q",  &after, pads,
                              unshifted, NULL,   NULL};
}

Test(moved_map, heights_grow_by_the_pads_of_callers)
{
    struct tree t = plant(&before, "/bin/p", heights);
    struct pathmap *map = over(&t);
    uint32_t pads[5] = {0};
    pads[t.main] = 16;
    pads[t.a] = 32;
    pads[t.c] = 112; /* calls nobody */
    struct moved_map move = request(map, pads, NULL);
    struct trie *moved = trie_new();
    cr_assert_eq(moved_map_make(&move, moved, NULL), 0);
    const uint32_t expected[] = {16, 80, 80, 144, 112, 144, 208};
    struct tree want = plant(&after, "/tmp/q", expected);
    struct pathmap *got_map, *want_map = over(&want);
    cr_assert_eq(pathmap_over(moved, &got_map, NULL), 0);
    cr_expect_eq(pathmap_node_count(got_map), pathmap_node_count(want_map));
    struct measured m;
    cr_assert_eq(measured_compare(got_map, want_map, &after, &m, NULL), 0);
    cr_expect(m.agree == 7 && m.wrong == 0 && m.unknown == 0 && m.below == 0, "%d agree", (int)m.agree);
    for (uint32_t i = 0; i < pathmap_node_count(got_map); i++) {
        struct pathmap_node x = pathmap_node(got_map, i), y = pathmap_node(want_map, i);
        cr_expect(x.height == y.height && x.passes == y.passes && x.self == y.self);
    }
    uint32_t found = pathmap_find_image(got_map, "/tmp/q", &after, NULL), first;
    cr_expect(found != PATHMAP_NONE && pathmap_image(got_map, found).hooked);
    cr_expect_eq(pathmap_find(got_map, t.c, 208, &first), 1);
    cr_expect_eq(pathmap_pcs(got_map, first, &first), 1, "where samples were is kept");
    pathmap_close(got_map);
    pathmap_close(want_map);
    pathmap_close(map);
    trie_free(moved);
    trie_free(want.trie);
    trie_free(t.trie);
}

Test(moved_map, calls_without_the_frame_do_not_move)
{
    struct tree t = plant(&before, "/bin/p", heights);
    struct pathmap *map = over(&t), *got;
    uint32_t pads[5] = {0}, first;
    bool unshifted[7] = {false};
    pads[t.b] = 48;
    cr_assert_eq(pathmap_node_count(map), 7);
    for (uint32_t i = 0; i < 7; i++)
        unshifted[i] = pathmap_node(map, i).site == 0x3010;
    struct moved_map move = request(map, pads, unshifted);
    struct trie *moved = trie_new();
    cr_assert_eq(moved_map_make(&move, moved, NULL), 0);
    cr_assert_eq(pathmap_over(moved, &got, NULL), 0);
    cr_expect_eq(pathmap_find(got, t.c, 96, &first), 2, "a's call and b's are where they were");
    pathmap_close(got);
    pathmap_close(map);
    trie_free(moved);
    trie_free(t.trie);
}

Test(moved_map, frames_of_other_files_stay_left_out)
{
    struct trie *trie = trie_new(), *moved = trie_new();
    trie_leave_out(trie); /* as training by uprobes does */
    uint32_t image = trie_image(trie, "/bin/p", &before), first;
    trie_set_hooked(trie, image);
    uint32_t outer = trie_function(trie, image, 0x1000, "main");
    uint32_t inner = trie_function(trie, image, 0x2000, "compare"); /* called by qsort */
    trie_add(trie, trie_child(trie, trie_child(trie, TRIE_ROOT, outer, 16, 0), inner, 160, 0), 7, 0);
    struct pathmap *map, *got;
    cr_assert_eq(pathmap_over(trie, &map, NULL), 0);
    cr_assert(pathmap_leaves_out(map));
    uint32_t pads[2] = {0};
    pads[outer] = 32;
    struct moved_map move = request(map, pads, NULL);
    cr_assert_eq(moved_map_make(&move, moved, NULL), 0);
    cr_assert_eq(pathmap_over(moved, &got, NULL), 0);
    cr_expect(pathmap_leaves_out(got));
    cr_expect_eq(pathmap_find(got, inner, 192, &first), 1);
    pathmap_close(got);
    pathmap_close(map);
    trie_free(moved);
    trie_free(trie);
}

Test(moved_map, heights_that_overflow_are_refused)
{
    const uint32_t deep[] = {16, 64, 64, UINT32_MAX - 8, 96, 96, 160};
    struct tree t = plant(&before, "/bin/p", deep);
    struct pathmap *map = over(&t);
    uint32_t pads[5] = {0};
    pads[t.a] = 16;
    struct moved_map move = request(map, pads, NULL);
    struct trie *moved = trie_new();
    struct fathom_error err;
    cr_expect_eq(moved_map_make(&move, moved, &err), -EOVERFLOW);
    pathmap_close(map);
    trie_free(moved);
    trie_free(t.trie);
}

Test(measured, tells_wrong_heights_from_paths_that_are_new)
{
    struct tree t = plant(&before, "/bin/p", heights);
    const uint32_t differs[] = {16, 64, 80, 96, 112, 96, 160};
    struct tree found = plant(&before, "/bin/p", differs);
    uint32_t m = trie_child(found.trie, TRIE_ROOT, found.main, 16, 0);
    trie_child(found.trie, trie_child(found.trie, m, found.c, 32, 0x1030), found.a, 64, 0x4010);
    struct pathmap *map = over(&t), *measured = over(&found);
    struct measured result;
    cr_assert_eq(measured_compare(map, measured, &before, &result, NULL), 0);
    cr_expect_eq(result.agree, 5);
    cr_expect_eq(result.wrong, 1, "b is at another height");
    cr_expect_eq(result.unknown, 1, "main did not call c before");
    cr_expect_eq(result.below, 2, "what b and c call");
    cr_expect_eq(result.expected, 64);
    cr_expect_eq(pathmap_node(measured, result.first_wrong).function, found.b);
    pathmap_close(map);
    pathmap_close(measured);
    trie_free(t.trie);
    trie_free(found.trie);
}
