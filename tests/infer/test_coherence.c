/* The model of coherence: its probabilities are those of a distribution, and learned from what is counted. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/model/coherence.h"
#include "tests/infer/world.h"

enum { MAX_STATES = 256, USUAL = 3 }; /* the level of one usual gap */

struct rig {
    struct world *world;
    struct coherence *model;
    uint32_t states; /* of all answers: 0 .. states - 1 */
    uint32_t nodes[MAX_STATES];
    uint32_t answers;
};

/* Meets all CIDs of the world's map, each with as many samples. */
static void add_all(struct rig *r, double samples)
{
    const struct pathmap *map = r->world->map;
    r->model = coherence_new(r->world->resolver);
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node n = pathmap_node(map, i);
        const struct candidate_path *candidates;
        uint32_t answer, first;
        cr_assert_eq(resolver_find(r->world->resolver, SETTING_ANY, n.function, n.height, &answer), 1);
        cr_assert_eq(coherence_count(r->model, answer, samples), 0);
        uint32_t count = resolver_candidates(r->world->resolver, answer, &candidates, &first);
        for (uint32_t c = 0; c < count; c++)
            r->nodes[first + c] = candidates[c].node;
        r->states = first + count > r->states ? first + count : r->states;
    }
}

static uint32_t state_of(const struct rig *r, const char *path)
{
    for (uint32_t s = 0; s < r->states; s++) {
        if (strcmp(world_path(r->world, r->nodes[s]), path) == 0)
            return s;
    }
    cr_assert_fail("no state %s", path);
    return 0;
}

static void end(struct rig *r)
{
    coherence_free(r->model);
    world_close(r->world);
}

/* fun0 calls fun1 and fun2; both call fun3, at one height, which calls fun4. */
static struct rig two_ways(void)
{
    struct rig r = {.world = world_open()};
    struct world *w = r.world;
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 600, 0);
    uint32_t one = world_child(w, root, 1, 16, 5, 400, 1), two = world_child(w, root, 2, 16, 6, 200, 1);
    world_child(w, world_child(w, one, 3, 48, 7, 300, 0), 4, 64, 8, 300, 300);
    world_child(w, world_child(w, two, 3, 48, 9, 100, 0), 4, 64, 8, 100, 100);
    world_finish(w);
    add_all(&r, 100);
    return r;
}

static void count(struct rig *r, uint32_t from, uint32_t to)
{
    coherence_count_pair(r->model, &(struct column){0, from, 1}, &(struct column){1, to, 1});
}

static double sum_from(const struct rig *r, uint32_t from)
{
    double sum = 0;
    for (uint32_t to = 0; to < r->states; to++)
        sum += coherence_step(r->model, from, to, USUAL);
    return sum;
}

Test(coherence, steps_from_a_state_add_up_to_one)
{
    srand(7);
    for (int round = 0; round < 50; round++) {
        struct rig r = {.world = world_open()};
        uint32_t nodes[24] = {TRIE_ROOT}, heights[24] = {0};
        for (int i = 1; i < 24; i++) {
            int parent = rand() % i;
            heights[i] = heights[parent] + 16 * (uint32_t)(1 + rand() % 3);
            nodes[i] = world_child(r.world, nodes[parent], (unsigned)rand() % FUNS, heights[i], 0,
                                   (uint64_t)rand() % 50 + 1, (uint64_t)rand() % 20);
        }
        world_finish(r.world);
        add_all(&r, 1 + rand() % 9);
        for (int pairs = 0; pairs < 40; pairs++)
            count(&r, (uint32_t)rand() % r.states, (uint32_t)rand() % r.states);
        coherence_update(r.model);
        for (uint32_t from = 0; from < r.states; from++)
            cr_expect_float_eq(sum_from(&r, from), 1, 1e-3, "round %d, state %u: %.12f", round, from,
                               sum_from(&r, from));
        end(&r);
    }
}

/* The chance that fun0 and the function below it are those of the path that is come from. */
static double stay(const struct rig *r, const char *path)
{
    double sum = 0;
    uint32_t from = state_of(r, path);
    for (uint32_t to = 0; to < r->states; to++) {
        if (strncmp(world_path(r->world, r->nodes[to]), path, 9) == 0)
            sum += coherence_step(r->model, from, to, USUAL);
    }
    return sum;
}

/* What comes next is as far off as the class of contexts that fun0 shares with the two below it makes it. */
Test(coherence, what_stays_is_learned)
{
    double last = 0;
    for (int same = 50; same <= 100; same += 25) { /* of 100 pairs, the second is in the same half */
        struct rig r = two_ways();
        uint32_t one = state_of(&r, "fun0 fun1"), two = state_of(&r, "fun0 fun2");
        for (int i = 0; i < 10000; i++) {
            count(&r, one, i % 100 < same ? one : two);
            count(&r, two, i % 100 < same ? two : one);
        }
        for (int round = 0; round < 4; round++) {
            for (uint32_t s = 0; s < r.states; s++)
                coherence_count_state(r.model, s, 1e9); /* the halves have as many samples */
            coherence_update(r.model);
        }
        double stays = stay(&r, "fun0 fun1");
        cr_expect_float_eq(stays, same / 100.0, 0.15, "%d: %g", same, stays);
        cr_expect_float_eq(stays, stay(&r, "fun0 fun2"), 1e-3);
        cr_expect_gt(stays, last + 0.1);
        last = stays;
        end(&r);
    }
    cr_expect_gt(last, 0.99, "%g", last);
}

Test(coherence, each_state_is_entered_as_often_as_left)
{
    struct rig r = two_ways();
    for (int i = 0; i < 1000; i++)
        count(&r, (uint32_t)i % r.states, (uint32_t)i / 3 % r.states);
    coherence_update(r.model);
    for (uint32_t level = 0; level < RENEWAL_LEVELS; level++) {
        for (uint32_t a = 0; a < r.states; a++) {
            for (uint32_t b = 0; b < a; b++) {
                double forth = coherence_share(r.model, a) * coherence_step(r.model, a, b, level);
                double back = coherence_share(r.model, b) * coherence_step(r.model, b, a, level);
                cr_expect_float_eq(forth, back, 1e-6 * forth, "%u, %u: %g, %g", a, b, forth, back);
            }
        }
    }
    end(&r);
}

Test(coherence, strength_makes_contexts_last)
{
    struct rig r = two_ways();
    double before = stay(&r, "fun0 fun1 fun3 fun4");
    coherence_set_strength(r.model, 8);
    double strong = stay(&r, "fun0 fun1 fun3 fun4");
    cr_expect_float_eq(1 - strong, (1 - before) / 8, 0.01, "%g, %g", before, strong);
    coherence_set_strength(r.model, 1);
    cr_expect_float_eq(stay(&r, "fun0 fun1 fun3 fun4"), before, 1e-6);
    end(&r);
}

Test(coherence, ambiguous_pairs_do_not_confirm_each_other)
{
    struct rig r = two_ways();
    uint32_t one = state_of(&r, "fun0 fun1"), two = state_of(&r, "fun0 fun2");
    uint32_t near = state_of(&r, "fun0 fun1 fun3 fun4");
    struct column ambiguous = {1, near, 2}; /* with fun4 under fun2, which comes next */
    cr_assert_eq(state_of(&r, "fun0 fun2 fun3 fun4"), near + 1);
    double before = coherence_step(r.model, one, two, USUAL);
    for (int i = 0; i < 1000; i++)
        coherence_count_pair(r.model, &ambiguous, &ambiguous);
    coherence_update(r.model);
    double after = coherence_step(r.model, one, two, USUAL);
    cr_expect_float_eq(after / before, 1, 0.05, "nothing is learned of fun1: %g, %g", before, after);
    end(&r);
}

Test(coherence, samples_are_shared_out_by_what_was_counted)
{
    struct rig r = two_ways();
    uint32_t one = state_of(&r, "fun0 fun1 fun3 fun4"), two = state_of(&r, "fun0 fun2 fun3 fun4");
    cr_expect_float_eq(coherence_share(r.model, one), 3 * coherence_share(r.model, two), 1e-3, "as trained");
    double before = coherence_share(r.model, two);
    coherence_count_state(r.model, two, 1e6);
    double moved = coherence_update(r.model);
    cr_expect_gt(coherence_share(r.model, two), 2 * before);
    cr_expect_gt(moved, 0);
    cr_expect_leq(moved, 1);
    coherence_update(r.model);
    cr_expect_float_eq(coherence_share(r.model, two), before, 1e-9, "nothing was counted");
    end(&r);
}

Test(coherence, gaps_are_counted_in_usual_ones)
{
    struct rig r = two_ways();
    cr_expect_eq(coherence_gaps(r.model, 5, 500), 1, "nothing is known");
    coherence_set_gap(r.model, 1000);
    cr_expect_eq(coherence_gaps(r.model, 0, 2000), 2);
    cr_expect_geq(coherence_gaps(r.model, 0, UINT64_MAX), 2);
    cr_expect_leq(coherence_gaps(r.model, 0, UINT64_MAX), 100, "however long it slept");
    cr_expect_gt(coherence_gaps(r.model, 10, 5), 0, "times that go backwards");
    cr_expect_eq(renewal_level(1), (unsigned)USUAL);
    cr_expect_eq(renewal_level(2), USUAL + 1u);
    cr_expect_eq(renewal_level(0.26), USUAL - 2u);
    cr_expect_eq(renewal_level(1e-9), 0u);
    cr_expect_eq(renewal_level(1e9), RENEWAL_LEVELS - 1u);
    end(&r);
}
