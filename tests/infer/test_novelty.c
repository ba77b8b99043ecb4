/* How likely paths leave what training saw: known answers. */
#include <criterion/criterion.h>

#include "infer/model/novelty.h"

/* a is walked 100 times and calls b each time; b calls c to f in turn, 25 times each. */
struct rig {
    struct trie *trie;
    uint32_t functions[8], numbers[8];
    struct pathmap *map;
    struct novelty *novelty;
};

static struct rig begin(bool hooked)
{
    struct rig r = {.trie = trie_new()};
    struct build_id id = {4, {1, 2, 3, 4}}, other = {4, {5, 6, 7, 8}};
    uint32_t image = trie_image(r.trie, "/bin/program", &id),
             library = trie_image(r.trie, "/lib/library", &other);
    if (hooked)
        trie_set_hooked(r.trie, image);
    for (unsigned i = 0; i < 8; i++)
        r.functions[i] = trie_function(r.trie, i < 7 ? image : library, 0x1000 + 16 * i, NULL);
    uint32_t a = trie_child(r.trie, TRIE_ROOT, r.functions[0], 16, 0);
    uint32_t b = trie_child(r.trie, a, r.functions[1], 32, 0);
    trie_add(r.trie, a, 100, 0);
    trie_add(r.trie, b, 100, 0);
    for (unsigned i = 2; i < 6; i++)
        trie_add(r.trie, trie_child(r.trie, b, r.functions[i], 64, i), 25, 25);
    trie_child(r.trie, b, r.functions[6], 64, 0); /* without counts: nothing saw it */
    void *data;
    size_t size;
    cr_assert_eq(trie_serialise(r.trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &r.map, NULL), 0);
    for (unsigned i = 0; i < 8; i++)
        r.numbers[i] = pathmap_find_function(r.map,
                                             i < 7 ? pathmap_find_image(r.map, "/bin/program", &id, NULL)
                                                   : pathmap_find_image(r.map, "/lib/library", &other, NULL),
                                             0x1000 + 16 * i);
    r.novelty = novelty_new(r.map);
    cr_assert(r.novelty);
    return r;
}

static double of(struct rig *r, const char *path)
{
    struct automaton_step steps[8];
    size_t depth = 0;
    for (; path[depth]; depth++)
        steps[depth] = (struct automaton_step){.function = r->numbers[path[depth] - 'a'],
                                               .height = 16 * (uint32_t)(depth + 1)};
    return novelty_of(r->novelty, steps, depth);
}

static void end(struct rig *r)
{
    novelty_free(r->novelty);
    pathmap_close(r->map);
    trie_free(r->trie);
}

Test(novelty, leaving_is_likely_where_many_ways_were_seen)
{
    struct rig r = begin(false);
    cr_expect_eq(of(&r, "abc"), 1, "it was seen");
    cr_expect_eq(of(&r, "ab"), 1);
    cr_expect_float_eq(of(&r, "abg"), 4.0 / 104, 1e-12, "b calls four");
    cr_expect_float_eq(of(&r, "agc"), 1.0 / 101, 1e-12, "a calls one");
    cr_expect_float_eq(of(&r, "b"), 1.0 / 101, 1e-12, "nothing else is outermost");
    cr_expect_eq(of(&r, "abcd"), 1, "training saw nothing below c");
    cr_expect_float_eq(of(&r, "abh"), 4.0 / 104, 1e-12);
    end(&r);
}

Test(novelty, calls_into_images_that_are_not_hooked_are_not_new)
{
    struct rig r = begin(true);
    cr_expect_eq(of(&r, "abh"), 1, "only some of them were seen");
    cr_expect_float_eq(of(&r, "abg"), 4.0 / 104, 1e-12);
    end(&r);
}
