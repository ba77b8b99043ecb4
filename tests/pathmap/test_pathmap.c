/* test_pathmap.c - what goes into a trie comes out of its file: against the plain model, on random tries. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/pathmap/model.h"

enum { ROUNDS = 40 };

static unsigned walks_of_round(unsigned round)
{
    return round * 8; /* 0: an empty map is a map */
}

Test(pathmap, file_holds_what_the_trie_held)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct trie *trie = trie_new();
        struct model want = {0}, got = {0};
        model_grow(&want, trie, round, walks_of_round(round), false);
        model_settle(&want);
        struct pathmap *map = model_map(trie);
        model_read(&got, map);
        model_settle(&got);
        cr_assert_eq(got.count, pathmap_node_count(map), "no path is there twice");
        cr_assert(model_equal(&want, &got), "round %u: %zu paths, %zu came back", round, want.count,
                  got.count);
        pathmap_close(map);
        model_free(&want);
        model_free(&got);
        trie_free(trie);
    }
}

Test(pathmap, merge_is_training_on_both)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct trie *a = trie_new(), *b = trie_new(), *both = trie_new();
        struct model want = {0}, got = {0};
        model_grow(&want, a, round, walks_of_round(round), false);
        model_grow(&want, b, round + 1000, 200, true);
        model_settle(&want);
        trie_statistics(a)->paths_cut = 3;
        trie_statistics(b)->paths_cut = 4;
        trie_statistics(b)->paths_entered = UINT64_MAX;
        trie_statistics(a)->paths_entered = 1;
        trie_statistics(a)->paths_failed = 9;
        struct pathmap *map_a = model_map(a), *map_b = model_map(b);
        cr_assert_eq(trie_merge(both, map_a, NULL), 0);
        cr_assert_eq(trie_merge(both, map_b, NULL), 0);
        struct pathmap *map = model_map(both);
        model_read(&got, map);
        model_settle(&got);
        cr_assert(model_equal(&want, &got), "round %u", round);
        cr_expect_eq(pathmap_image_count(map), MODEL_IMAGES, "images of both are the same three");
        struct trie_statistics s = pathmap_statistics(map);
        cr_expect_eq(s.paths_cut, 7);
        cr_expect_eq(s.paths_failed, 9);
        cr_expect_eq(s.paths_entered, UINT64_MAX);
        pathmap_close(map);
        pathmap_close(map_a);
        pathmap_close(map_b);
        model_free(&want);
        model_free(&got);
        trie_free(a);
        trie_free(b);
        trie_free(both);
    }
}

/* main calls qsort of the C library, which calls compare. leaves_out: the path has no qsort in it. `site` is of
 * the call of qsort. */
static struct pathmap *callback_map_from(uint64_t site, bool hooked, bool leaves_out, uint64_t passes,
                                         uint64_t self)
{
    static const struct build_id none;
    struct trie *trie = trie_new();
    uint32_t program = trie_image(trie, "program", &none), library = trie_image(trie, "libc", &none);
    if (hooked)
        trie_set_hooked(trie, program);
    if (leaves_out)
        trie_leave_out(trie);
    uint32_t outer = trie_child(trie, TRIE_ROOT, trie_function(trie, program, 0x1000, "main"), 8, 0);
    trie_add(trie, outer, passes, 0);
    if (!leaves_out) {
        outer = trie_child(trie, outer, trie_function(trie, library, 0x500, "qsort"), 64, site);
        trie_add(trie, outer, hooked ? 1 : passes, 0);
    }
    uint32_t inner =
        trie_child(trie, outer, trie_function(trie, program, 0x2000, "compare"), 96, hooked ? 0 : 0x520);
    trie_add(trie, inner, passes, self);
    if (!hooked)
        trie_add(trie, trie_child(trie, inner, trie_function(trie, library, 0x600, "strcmp"), 112, 0x2010), 1,
                 1);
    struct pathmap *map = model_map(trie);
    trie_free(trie);
    return map;
}

static struct pathmap *callback_map(bool hooked, bool leaves_out, uint64_t passes, uint64_t self)
{
    return callback_map_from(0x1010, hooked, leaves_out, passes, self);
}

/* Hooks count all calls of compare at one node, from wherever qsort was called. */
Test(pathmap, stacks_from_another_call_site_beside_counted_calls)
{
    struct pathmap *calls = callback_map(true, false, 1000, 0),
                   *stacks = callback_map_from(0x1020, false, false, 7, 7);
    struct trie *both = trie_new();
    cr_assert_eq(trie_merge(both, calls, NULL), 0);
    cr_assert_eq(trie_merge(both, stacks, NULL), 0);
    struct pathmap *map = model_map(both);
    uint32_t first, program = pathmap_find_image(map, "program", NULL, NULL);
    cr_assert_eq(pathmap_find(map, pathmap_find_function(map, program, 0x2000), 96, &first), 2u);
    struct pathmap_node one = pathmap_node(map, first), other = pathmap_node(map, first + 1);
    cr_expect_eq(one.passes + other.passes, 1000u);
    cr_expect_eq(one.self + other.self, 7u);
    pathmap_close(map);
    pathmap_close(calls);
    pathmap_close(stacks);
    trie_free(both);
}

Test(pathmap, stacks_beside_counted_calls)
{
    struct pathmap *calls = callback_map(true, true, 1000, 0), *stacks = callback_map(false, false, 7, 7);
    cr_expect(pathmap_leaves_out(calls));
    cr_expect_not(pathmap_sampled(calls));
    cr_expect(pathmap_sampled(stacks));
    struct trie *both = trie_new();
    cr_assert_eq(trie_merge(both, calls, NULL), 0);
    cr_assert_eq(trie_merge(both, stacks, NULL), 0);
    struct pathmap *map = model_map(both);
    uint32_t first, program = pathmap_find_image(map, "program", NULL, NULL),
                    library = pathmap_find_image(map, "libc", NULL, NULL);
    /* One node of compare, whether qsort stood between or not: called as often as was counted, and
     * sampled. */
    cr_assert_eq(pathmap_find(map, pathmap_find_function(map, program, 0x2000), 96, &first), 1u);
    struct pathmap_node compare = pathmap_node(map, first);
    cr_expect_eq(compare.passes, 1000u);
    cr_expect_eq(compare.self, 7u);
    cr_assert_eq(pathmap_find(map, pathmap_find_function(map, library, 0x600), 112, &first), 1u);
    cr_expect_eq(pathmap_node(map, first).parent,
                 (uint32_t)(pathmap_find(map, compare.function, 96, &first) ? first : PATHMAP_NONE));
    pathmap_close(map);
    pathmap_close(calls);
    pathmap_close(stacks);
    trie_free(both);
}

Test(pathmap, stacks_beside_counted_calls_with_all_frames)
{
    struct pathmap *calls = callback_map(true, false, 1000, 0), *stacks = callback_map(false, false, 7, 7),
                   *older = callback_map(true, true, 9, 0);
    struct fathom_error err = {0};
    struct trie *both = trie_new();
    cr_expect_not(pathmap_leaves_out(calls));
    cr_assert_eq(trie_merge(both, calls, NULL), 0);
    cr_assert_eq(trie_merge(both, stacks, NULL), 0);
    cr_expect_eq(trie_merge(both, older, &err), -ENOTSUP, "its paths have no qsort");
    struct pathmap *map = model_map(both);
    uint32_t first, program = pathmap_find_image(map, "program", NULL, NULL),
                    library = pathmap_find_image(map, "libc", NULL, NULL);
    cr_expect_not(pathmap_leaves_out(map));
    /* One node of each: where qsort made the call is not told apart. */
    cr_assert_eq(pathmap_find(map, pathmap_find_function(map, program, 0x2000), 96, &first), 1u);
    struct pathmap_node compare = pathmap_node(map, first);
    cr_expect_eq(compare.passes, 1000u, "exact");
    cr_expect_eq(compare.self, 7u);
    cr_assert_eq(pathmap_find(map, pathmap_find_function(map, library, 0x500), 64, &first), 1u);
    cr_expect_eq(compare.parent, first);
    cr_expect_eq(pathmap_node(map, first).passes, 8u);
    cr_expect_eq(pathmap_node(map, first).site, 0x1010u);
    pathmap_close(map);
    pathmap_close(calls);
    pathmap_close(stacks);
    pathmap_close(older);
    trie_free(both);
}

Test(pathmap, where_samples_lay)
{
    static const struct build_id none;
    struct trie *trie = trie_new(), *both = trie_new();
    uint32_t image = trie_image(trie, "program", &none);
    uint32_t outer = trie_child(trie, TRIE_ROOT, trie_function(trie, image, 0x2000, "outer"), 8, 0);
    uint32_t inner = trie_child(trie, outer, trie_function(trie, image, 0x1000, "inner"), 64, 0x2010);
    struct pathmap *empty = model_map(trie);
    uint32_t first;
    for (uint32_t i = 0; i <= pathmap_node_count(empty); i++)
        cr_expect_eq(pathmap_pcs(empty, i, &first), 0u);
    cr_assert(trie_add_pc(trie, inner, 0x40, 3) && trie_add_pc(trie, outer, 7, 1));
    cr_assert(trie_add_pc(trie, inner, 0x10, 1) && trie_add_pc(trie, inner, 0x40, 2));
    struct pathmap *one = model_map(trie);
    cr_assert_eq(trie_merge(both, one, NULL), 0);
    cr_assert_eq(trie_merge(both, one, NULL), 0);
    struct pathmap *twice = model_map(both);
    for (unsigned n = 1; n <= 2; n++) {
        const struct pathmap *map = n == 1 ? one : twice;
        uint32_t of_inner, of_outer;
        cr_assert_eq(pathmap_find(map, pathmap_find_function(map, 0, 0x1000), 64, &of_inner), 1u);
        cr_assert_eq(pathmap_find(map, pathmap_find_function(map, 0, 0x2000), 8, &of_outer), 1u);
        cr_assert_eq(pathmap_pcs(map, of_inner, &first), 2u);
        cr_expect_eq(pathmap_pc(map, first).offset, 0x10u);
        cr_expect_eq(pathmap_pc(map, first).samples, n);
        cr_expect_eq(pathmap_pc(map, first + 1).offset, 0x40u);
        cr_expect_eq(pathmap_pc(map, first + 1).samples, 5 * n);
        cr_assert_eq(pathmap_pcs(map, of_outer, &first), 1u);
        cr_expect_eq(pathmap_pc(map, first).offset, 7u);
        cr_expect_eq(pathmap_pc(map, 3).samples, 0u, "past the end");
    }
    pathmap_close(empty);
    pathmap_close(one);
    pathmap_close(twice);
    trie_free(trie);
    trie_free(both);
}

static void check_candidates(const struct pathmap *map)
{
    uint32_t count = pathmap_node_count(map), shared = 0;
    for (uint32_t f = 0; f < pathmap_function_count(map); f++) {
        uint32_t of_function = 0, first = PATHMAP_NONE;
        for (uint32_t height = 0; height < 200; height += 4) {
            uint32_t expected = 0, lowest = PATHMAP_NONE;
            for (uint32_t i = count; i-- > 0;) {
                struct pathmap_node n = pathmap_node(map, i);
                if (n.function == f && n.height == height) {
                    expected++;
                    lowest = i;
                }
            }
            first = PATHMAP_NONE;
            cr_assert_eq(pathmap_find(map, f, height, &first), expected);
            cr_assert_eq(first, lowest);
            for (uint32_t i = 1; i < expected; i++)
                cr_assert_leq(pathmap_node(map, first + i - 1).path, pathmap_node(map, first + i).path);
            shared += expected > 1;
        }
        for (uint32_t i = 0; i < count; i++)
            of_function += pathmap_node(map, i).function == f;
        cr_assert_eq(pathmap_function_nodes(map, f, &first), of_function);
        for (uint32_t i = 0; i < of_function; i++) {
            cr_assert_eq(pathmap_node(map, first + i).function, f);
            cr_assert(i == 0 ||
                      pathmap_node(map, first + i - 1).height <= pathmap_node(map, first + i).height);
        }
    }
    cr_expect_gt(shared, 50, "the test means little when hardly any CID is shared");
    uint32_t first;
    cr_expect_eq(pathmap_find(map, pathmap_function_count(map), 8, &first), 0);
    cr_expect_eq(pathmap_find(map, PATHMAP_NONE, 8, &first), 0);
    cr_expect_eq(pathmap_function_nodes(map, pathmap_function_count(map), &first), 0);
}

Test(pathmap, candidates_are_all_nodes_of_the_cid)
{
    struct trie *trie = trie_new();
    struct model unused = {0};
    model_grow(&unused, trie, 7, 600, false);
    struct pathmap *map = model_map(trie);
    check_candidates(map);
    pathmap_close(map);
    model_free(&unused);
    trie_free(trie);
}

/* Each node of the map is the child, in the trie, of the node that its parent is. */
static void check_numbers(struct trie *trie, const struct pathmap *map)
{
    uint32_t count = trie_node_count(trie), *of = malloc(count * sizeof *of);
    cr_assert(of);
    cr_assert_eq(pathmap_node_count(map), count - 1);
    cr_expect_eq(pathmap_number(map, TRIE_ROOT), PATHMAP_NONE);
    cr_expect_eq(pathmap_number(map, count), PATHMAP_NONE);
    for (uint32_t i = 1; i < count; i++) {
        cr_assert_lt(pathmap_number(map, i), count - 1);
        of[pathmap_number(map, i)] = i;
    }
    for (uint32_t i = 0; i < count - 1; i++) {
        struct pathmap_node n = pathmap_node(map, i);
        uint32_t parent = n.parent == PATHMAP_NONE ? TRIE_ROOT : of[n.parent];
        cr_assert_eq(trie_child(trie, parent, n.function, n.height, n.site), of[i]);
    }
    cr_assert_eq(trie_node_count(trie), count, "all were there");
    free(of);
}

Test(pathmap, over_a_trie_grows_with_it)
{
    struct trie *trie = trie_new();
    struct pathmap *map;
    struct model model = {0};
    cr_assert_eq(pathmap_over(trie, &map, NULL), 0);
    cr_expect_eq(pathmap_node_count(map), 0);
    for (uint64_t seed = 1; seed < 5; seed++) {
        struct model got = {0};
        model_grow(&model, trie, seed, 200, false);
        cr_assert_eq(pathmap_update(map, NULL), 0);
        model_read(&got, map);
        model_settle(&got);
        model_settle(&model);
        cr_assert(model_equal(&got, &model));
        check_candidates(map);
        check_numbers(trie, map);
        model_free(&got);
    }
    uint32_t functions = pathmap_function_count(map), first;
    uint32_t later = trie_function(trie, 0, 0x123456, "later");
    cr_expect_eq(pathmap_find_function(map, 0, 0x123456), PATHMAP_NONE, "newer than the map");
    cr_assert_eq(pathmap_update(map, NULL), 0);
    cr_expect_eq(pathmap_function_count(map), functions + 1);
    cr_expect_eq(pathmap_find_function(map, 0, 0x123456), later);
    cr_expect_str_eq(pathmap_function(map, later).name, "later");
    cr_expect_eq(pathmap_function_nodes(map, later, &first), 0);
    check_candidates(map);
    pathmap_close(map);
    model_free(&model);
    trie_free(trie);
}

static bool same_functions(const struct model_path *a, const struct model_path *b)
{
    if (a->depth != b->depth)
        return false;
    for (uint32_t d = 0; d < a->depth; d++) {
        if (a->frames[d].image != b->frames[d].image || a->frames[d].address != b->frames[d].address)
            return false;
    }
    return true;
}

Test(pathmap, path_numbers_are_equal_when_the_functions_are)
{
    struct trie *trie = trie_new();
    struct model unused = {0};
    model_grow(&unused, trie, 11, 300, false);
    struct pathmap *map = model_map(trie);
    uint32_t count = pathmap_node_count(map), equal = 0;
    struct model_path *paths = calloc(count, sizeof *paths);
    uint8_t *seen = calloc(count, 1);
    for (uint32_t i = 0; i < count; i++)
        paths[i] = model_path_of(map, i);
    for (uint32_t i = 0; i < count; i++) {
        struct pathmap_node node = pathmap_node(map, i);
        cr_assert_lt(node.path, pathmap_path_count(map));
        seen[node.path] = 1;
        for (uint32_t j = 0; j < i; j++) {
            bool same = same_functions(&paths[i], &paths[j]);
            cr_assert_eq(same, node.path == pathmap_node(map, j).path);
            equal += same;
        }
        uint32_t functions[MODEL_DEPTH];
        cr_assert_eq(pathmap_path(map, i, functions, MODEL_DEPTH), (int)paths[i].depth);
        for (uint32_t d = 0; d < paths[i].depth; d++)
            cr_assert_eq(pathmap_function(map, functions[d]).address, paths[i].frames[d].address);
    }
    for (uint32_t p = 0; p < pathmap_path_count(map); p++)
        cr_assert(seen[p], "path %u has no node", p);
    cr_expect_gt(equal, 20);
    free(paths);
    free(seen);
    pathmap_close(map);
    model_free(&unused);
    trie_free(trie);
}

Test(pathmap, finds_images_and_functions)
{
    struct trie *trie = trie_new();
    struct model unused = {0};
    model_grow(&unused, trie, 3, 100, false);
    struct pathmap *map = model_map(trie);
    for (uint32_t i = 0; i < pathmap_function_count(map); i++) {
        struct pathmap_function f = pathmap_function(map, i);
        char name[32];
        snprintf(name, sizeof name, "f%llx", (unsigned long long)f.address);
        cr_assert_str_eq(f.name, name);
        cr_assert_eq(pathmap_find_function(map, f.image, f.address), i);
        cr_assert_eq(pathmap_find_function(map, f.image, f.address + 1), PATHMAP_NONE);
    }
    cr_assert_eq(pathmap_find_function(map, 99, 0x1000), PATHMAP_NONE);
    struct build_id first = model_build_id(1), other = {20, {0xee}}, none = {0};
    bool stale = true;
    cr_expect_eq(pathmap_find_image(map, "/elsewhere/lib.so", &first, &stale), 1);
    cr_expect_not(stale);
    cr_expect_eq(pathmap_find_image(map, model_image_path(1), &other, &stale), PATHMAP_NONE);
    cr_expect(stale, "the same path, another build");
    cr_expect_eq(pathmap_find_image(map, "/elsewhere/lib.so", &other, &stale), PATHMAP_NONE);
    cr_expect_not(stale);
    cr_expect_eq(pathmap_find_image(map, model_image_path(2), &none, &stale), 2, "neither has a build-id");
    cr_expect_eq(pathmap_find_image(map, model_image_path(1), &none, &stale), PATHMAP_NONE);
    cr_expect(stale);
    cr_expect_eq(pathmap_find_image(map, model_image_path(1), NULL, NULL), 1);
    pathmap_close(map);
    model_free(&unused);
    trie_free(trie);
}

Test(pathmap, saves_and_opens_a_file)
{
    struct trie *trie = trie_new();
    struct model want = {0}, got = {0};
    model_grow(&want, trie, 5, 200, false);
    char path[] = "/tmp/fathom-test-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
    struct fathom_error err = {0};
    cr_assert_eq(trie_save(trie, path, &err), 0, "%s", err.text);
    struct pathmap *map;
    cr_assert_eq(pathmap_open(path, &map, &err), 0, "%s", err.text);
    model_settle(&want);
    model_read(&got, map);
    model_settle(&got);
    cr_expect(model_equal(&want, &got));
    pathmap_close(map);

    map = (struct pathmap *)1;
    fd = open(path, O_RDWR | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    cr_expect_eq(ftruncate(fd, 1000), 0);
    cr_expect_eq(pathmap_open(path, &map, &err), -EBADMSG);
    cr_expect_not_null(strstr(err.text, path), "the message names the file: %s", err.text);
    cr_expect_not_null(strstr(err.text, "cut"), "%s", err.text);
    cr_expect_eq(ftruncate(fd, 0), 0);
    cr_expect_eq(pathmap_open(path, &map, &err), -EBADMSG);
    cr_expect_eq(pwrite(fd, "PERFILE2PERFILE2PERFILE2PERFILE2", 32, 0), 32);
    cr_expect_eq(pathmap_open(path, &map, &err), -ENOMSG);
    cr_expect_eq((uintptr_t)map, 1, "untouched on failure");
    close(fd);
    unlink(path);
    cr_expect_eq(pathmap_open(path, &map, &err), -ENOENT);
    cr_expect_eq(trie_save(trie, "/no/such/folder/x.fmap", &err), -ENOENT);
    model_free(&want);
    model_free(&got);
    trie_free(trie);
}
