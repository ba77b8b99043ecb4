/* test_trie.c - building a path map: equal things get equal numbers, what cannot be is refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "pathmap/map/pathmap.h"

static const struct build_id build_a = {4, {1, 2, 3, 4}}, build_b = {4, {1, 2, 3, 5}}, no_build;

Test(trie, images_are_equal_by_build_id_else_by_path)
{
    struct trie *t = trie_new();
    uint32_t a = trie_image(t, "/bin/a", &build_a);
    cr_expect_eq(trie_image(t, "/other/a", &build_a), a);
    cr_expect_neq(trie_image(t, "/bin/a", &build_b), a);
    uint32_t bare = trie_image(t, "/bin/a", &no_build);
    cr_expect_neq(bare, a);
    cr_expect_eq(trie_image(t, "/bin/a", NULL), bare);
    cr_expect_neq(trie_image(t, "/bin/b", NULL), bare);
    trie_free(t);
}

Test(trie, functions_are_equal_by_image_and_address)
{
    struct trie *t = trie_new();
    uint32_t a = trie_image(t, "/bin/a", &build_a), b = trie_image(t, "/bin/b", &build_b);
    uint32_t f = trie_function(t, a, 0x1000, NULL);
    cr_expect_eq(trie_function(t, a, 0x1000, "main"), f);
    cr_expect_neq(trie_function(t, b, 0x1000, "main"), f);
    cr_expect_neq(trie_function(t, a, 0x1001, "main"), f);
    cr_expect_eq(trie_function(t, 7, 0x1000, "main"), TRIE_NONE, "no such image");
    trie_free(t);
}

Test(trie, children_are_equal_by_function_height_and_site)
{
    struct trie *t = trie_new();
    uint32_t f = trie_function(t, trie_image(t, "/bin/a", &build_a), 0x1000, "f");
    uint32_t top = trie_child(t, TRIE_ROOT, f, 0, 0);
    cr_expect_neq(top, TRIE_NONE, "a thread's outermost frame has height 0");
    uint32_t n = trie_child(t, top, f, 16, 0x1010);
    cr_expect_eq(trie_child(t, top, f, 16, 0x1010), n);
    uint32_t higher = trie_child(t, top, f, 24, 0x1010), elsewhere = trie_child(t, top, f, 16, 0x1020);
    cr_expect_neq(higher, n);
    cr_expect_neq(elsewhere, n);
    cr_expect_eq(trie_child(t, top, f, 16, 0x1010), n, "found again, no longer the last child");
    cr_expect_eq(trie_node_count(t), 5);
    cr_expect_eq(trie_child(t, top, f, 16, 0x100000000), trie_child(t, top, f, 16, 0),
                 "a far site is unknown");
    cr_expect_eq(trie_node_count(t), 6);
    trie_free(t);
}

Test(trie, finds_the_frame_of_a_height)
{
    struct trie *t = trie_new();
    uint32_t f = trie_function(t, trie_image(t, "/bin/a", &build_a), 0x1000, "f"), parent = 7;
    uint32_t top = trie_child(t, TRIE_ROOT, f, 0, 0), middle = trie_child(t, top, f, 16, 0x1010);
    uint32_t leaf = trie_child(t, middle, f, 48, 0x1020);
    uint64_t site = 7;
    cr_expect(trie_at_height(t, leaf, 48, &parent, &site));
    cr_expect(parent == middle && site == 0x1020);
    cr_expect(trie_at_height(t, leaf, 16, &parent, &site));
    cr_expect(parent == top && site == 0x1010);
    cr_expect(trie_at_height(t, leaf, 0, &parent, &site));
    cr_expect(parent == TRIE_ROOT && site == 0);
    cr_expect_not(trie_at_height(t, leaf, 56, &parent, &site));
    cr_expect_not(trie_at_height(t, leaf, 24, &parent, &site));
    cr_expect_not(trie_at_height(t, top, 16, &parent, &site));
    trie_free(t);
}

Test(trie, refuses_what_cannot_be)
{
    struct trie *t = trie_new();
    uint32_t f = trie_function(t, trie_image(t, "/bin/a", &build_a), 0x1000, "f");
    uint32_t top = trie_child(t, TRIE_ROOT, f, 64, 0);
    cr_expect_eq(trie_child(t, top, f, 64, 0), TRIE_NONE, "a call takes room");
    cr_expect_eq(trie_child(t, top, f, 8, 0), TRIE_NONE);
    cr_expect_eq(trie_child(t, top, f + 1, 72, 0), TRIE_NONE, "no such function");
    cr_expect_eq(trie_child(t, top + 1, f, 72, 0), TRIE_NONE, "no such parent");
    cr_expect_eq(trie_node_count(t), 2);
    trie_free(t);
}

Test(trie, counts_do_not_wrap)
{
    struct trie *t = trie_new();
    uint32_t f = trie_function(t, trie_image(t, "/bin/a", &build_a), 0x1000, "f");
    uint32_t n = trie_child(t, TRIE_ROOT, f, 64, 0);
    trie_add(t, n, UINT64_MAX - 1, 3);
    trie_add(t, n, 5, 4);
    trie_add(t, TRIE_ROOT, 1, 1);
    trie_add(t, n + 1, 1, 1);
    void *data;
    size_t size;
    struct pathmap *map;
    cr_assert_eq(trie_serialise(t, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &map, NULL), 0);
    cr_assert_eq(pathmap_node_count(map), 1);
    cr_expect_eq(pathmap_node(map, 0).passes, UINT64_MAX);
    cr_expect_eq(pathmap_node(map, 0).self, 7);
    cr_assert_eq(trie_merge(t, map, NULL), 0);
    pathmap_close(map);
    trie_free(t);
}

/* A chain a hundred thousand frames deep goes in, out and through a merge. */
Test(trie, deep_recursion)
{
    enum { DEPTH = 100000 };
    struct trie *t = trie_new();
    uint32_t f = trie_function(t, trie_image(t, "/bin/a", &build_a), 0x1000, "f"), at = TRIE_ROOT;
    for (uint32_t i = 0; i < DEPTH; i++) {
        at = trie_child(t, at, f, 16 * i, 0x1010);
        trie_add(t, at, 1, 0);
    }
    void *data;
    size_t size;
    struct pathmap *map;
    cr_assert_eq(trie_serialise(t, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &map, NULL), 0);
    struct trie *copy = trie_new();
    cr_assert_eq(trie_merge(copy, map, NULL), 0);
    cr_expect_eq(trie_node_count(copy), DEPTH + 1);
    uint32_t first, functions[3] = {9, 9, 9};
    cr_assert_eq(pathmap_find(map, 0, 16 * (DEPTH - 1), &first), 1);
    cr_expect_eq(pathmap_path(map, first, functions, 2), DEPTH);
    cr_expect_eq(functions[0], 0);
    cr_expect_eq(functions[1], 0);
    cr_expect_eq(functions[2], 9, "no more than asked for");
    cr_expect_eq(pathmap_path_count(map), DEPTH);
    pathmap_close(map);
    trie_free(copy);
    trie_free(t);
}

/* The i'th of the children of `parent`, at heights that share most of their bits. */
static uint32_t nth_child(struct trie *t, uint32_t parent, uint32_t function, uint32_t i)
{
    return trie_child(t, parent, function, 64 + i % 50 * 8, 0x1000 + i);
}

Test(trie, many_children_of_a_few_are_found_before_and_after_growth)
{
    struct trie *t = trie_new();
    uint32_t f = trie_function(t, trie_image(t, "/bin/a", &build_a), 0x1000, "f");
    uint32_t tops[3], wrong = 0;
    for (uint32_t i = 0; i < 3; i++)
        tops[i] = trie_child(t, TRIE_ROOT, f, 8 + i * 8, 0);
    uint32_t first = trie_node_count(t);
    for (uint32_t i = 0; i < 3000; i++)
        wrong += nth_child(t, tops[i % 3], f, i) != first + i;
    for (uint32_t i = 0; i < 3000; i++)
        wrong += nth_child(t, tops[i % 3], f, i) != first + i;
    trie_reserve(t, 100000);
    for (uint32_t i = 0; i < 3000; i++)
        wrong += nth_child(t, tops[i % 3], f, i) != first + i;
    cr_expect_eq(wrong, 0);
    cr_expect_eq(trie_node_count(t), first + 3000);
    trie_free(t);
}
