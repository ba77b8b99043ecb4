/* Where a sample lies in its function: which of two paths at one height that speaks for. */
#include <criterion/criterion.h>

#include "infer/model/inside.h"
#include "tests/infer/world.h"

/* fun0 calls fun1 and fun2, which both call fun3: under fun1 it was sampled 30 times in its first bytes,
 * under fun2 9 times 16 bytes on and once in the first. */
static struct world *begin(bool pcs)
{
    struct world *w = world_open();
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 40, 0);
    uint32_t one = world_child(w, world_child(w, root, 1, 16, 5, 30, 0), 3, 48, 7, 30, 30);
    uint32_t two = world_child(w, world_child(w, root, 2, 16, 6, 10, 0), 3, 48, 9, 10, 10);
    if (pcs) {
        cr_assert(trie_add_pc(w->trie, one, 4, 30));
        cr_assert(trie_add_pc(w->trie, two, INSIDE_FINE + 1, 9));
        cr_assert(trie_add_pc(w->trie, two, 0, 1));
    }
    world_finish(w);
    return w;
}

/* A sample in fun3, this many bytes on: the probability of the path by way of fun1. */
static double by_one(struct world *w, struct inside *inside, uint32_t offset)
{
    struct resolved resolved = {.reason = UNKNOWN_NOT};
    struct image *image = world_image(w);
    struct sample sample = world_sample(3, BASE, 48);
    struct place place;
    cr_assert(process_place(w->self.process, sample.ip, &place));
    uint32_t function = resolver_function(w->resolver, image, place.function);
    cr_assert_eq(resolver_resolve_cid(w->resolver, function, 48, &resolved, NULL), 0);
    cr_assert_eq(resolved.posterior_count, 2u);
    place.address += offset;
    resolved.cid = (struct cid){place, 48, UNKNOWN_NOT};
    cr_assert_eq(inside_resolved(inside, &resolved, NULL), 0);
    double sum = 0, one = 0;
    for (uint32_t i = 0; i < resolved.posterior_count; i++) {
        double p = (double)resolved.posterior[i].probability;
        uint32_t caller = pathmap_node(w->map, resolved.posterior[i].node).parent;
        one += pathmap_node(w->map, caller).site == 5 ? p : 0;
        sum += p;
    }
    cr_expect_float_eq(sum, 1, 1e-5);
    return one;
}

Test(inside, blocks_speak_for_paths)
{
    struct world *w = begin(true);
    struct inside *inside = inside_new(w->resolver);
    /* 31 of all 40 samples lie in the first block, 9 in the second; all in one coarse block. */
    double one = 30.75 / 41, two = 1 - one, k = INSIDE_PRIOR;
    double first_one = (30 + k * 31 / 40) / (30 + k), first_two = (1 + k * 31 / 40) / (10 + k);
    double second_one = k * 9 / 40 / (30 + k), second_two = (9 + k * 9 / 40) / (10 + k);
    cr_expect_float_eq(by_one(w, inside, 0), one * first_one / (one * first_one + two * first_two), 1e-5);
    cr_expect_float_eq(by_one(w, inside, INSIDE_FINE + 3),
                       one * second_one / (one * second_one + two * second_two), 1e-5);
    cr_expect_float_eq(by_one(w, inside, INSIDE_FINE), by_one(w, inside, INSIDE_FINE + 3), 0, "one block");
    cr_expect_float_eq(by_one(w, inside, INSIDE_COARSE * 2), 30.75 / 41, 1e-5, "nothing was seen there");
    inside_free(inside);
    world_close(w);
}

Test(inside, nothing_is_told_without_places)
{
    struct world *w = begin(false);
    struct inside *inside = inside_new(w->resolver);
    cr_expect_float_eq(by_one(w, inside, 0), 30.75 / 41, 1e-5);
    inside_free(inside);
    world_close(w);
}
