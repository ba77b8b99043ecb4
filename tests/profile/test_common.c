/* What several paths have in common, on a map made by hand. */
#include <criterion/criterion.h>

#include "profile/common.h"
#include "tests/infer/world.h"

enum { PATHS = 4 };

/* Paths written as digits; their nodes by these. */
static uint32_t node_of(const struct world *w, const char *functions)
{
    char names[64] = "";
    for (size_t i = 0; functions[i]; i++)
        snprintf(names + i * 5, sizeof names - i * 5, "fun%c ", functions[i]);
    names[strlen(names) - 1] = 0;
    for (uint32_t i = 0; i < pathmap_node_count(w->map); i++) {
        if (strcmp(world_path(w, i), names) == 0)
            return i;
    }
    cr_assert_fail("no path %s", names);
    return PATHMAP_NONE;
}

static void expect(const char *const functions[PATHS], const float probabilities[PATHS], uint32_t paths,
                   size_t outer, size_t inner)
{
    struct world *w = world_open();
    struct candidate_path candidates[PATHS];
    uint32_t count = 0;
    for (; count < PATHS && functions[count]; count++) {
        uint32_t node = TRIE_ROOT;
        for (size_t i = 0; functions[count][i]; i++)
            node = world_child(w, node, (unsigned)(functions[count][i] - '0'), (uint32_t)i * 16, 0, 1, 0);
    }
    world_finish(w);
    for (uint32_t i = 0; i < count; i++)
        candidates[i] = (struct candidate_path){node_of(w, functions[i]), probabilities[i]};
    struct common c = {0};
    cr_assert_eq(common_find(&c, w->map, candidates, count, NULL), 0);
    cr_expect_eq(c.paths, paths, "%s: %u paths", functions[0], c.paths);
    cr_expect_eq(c.outer, outer, "%s: outer %zu", functions[0], c.outer);
    cr_expect_eq(c.inner, inner, "%s: inner %zu", functions[0], c.inner);
    cr_expect_eq(c.depth, strlen(functions[0]));
    common_clear(&c);
    world_close(w);
}

Test(common, both_ends_of_all_paths)
{
    expect((const char *const[PATHS]){"01234", "01534"}, (const float[PATHS]){0.6f, 0.4f}, 2, 2, 2);
    expect((const char *const[PATHS]){"01234", "01534", "07634"}, (const float[PATHS]){0.5f, 0.3f, 0.2f}, 3,
           1, 2);
    expect((const char *const[PATHS]){"0123", "4567"}, (const float[PATHS]){0.6f, 0.4f}, 2, 0, 0);
}

Test(common, ends_do_not_overlap_in_the_shortest_path)
{
    expect((const char *const[PATHS]){"01114", "0114"}, (const float[PATHS]){0.6f, 0.4f}, 2, 3, 1);
    expect((const char *const[PATHS]){"014", "01114"}, (const float[PATHS]){0.6f, 0.4f}, 2, 2, 1);
}

Test(common, unlikely_paths_are_not_looked_at)
{
    expect((const char *const[PATHS]){"0134", "0534", "6734"}, (const float[PATHS]){0.5f, 0.495f, 0.005f}, 2,
           1, 2);
    expect((const char *const[PATHS]){"0134", "0534"}, (const float[PATHS]){0.992f, 0.008f}, 1, 4, 0);
}
