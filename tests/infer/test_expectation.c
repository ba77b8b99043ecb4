/* Expectation-maximisation on recordings made by hand. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "infer/model/expectation.h"
#include "tests/infer/world.h"

/* fun0 calls fun1 and fun2; both call fun3, which calls fun4: ambiguous. fun5 under fun1 and fun6 under fun2
 * are sure. By training, fun4 runs under fun1. */
struct rig {
    struct world *world;
    struct survey *survey;
    struct coherence *model;
    uint32_t leaf; /* of the trie: fun4 under fun2 */
    uint64_t time;
};

static struct rig begin(void)
{
    struct rig r = {.world = world_open(), .survey = survey_new()};
    struct world *w = r.world;
    uint32_t root = world_child(w, TRIE_ROOT, 0, 0, 0, 600, 0);
    uint32_t one = world_child(w, root, 1, 16, 5, 400, 0), two = world_child(w, root, 2, 16, 6, 200, 0);
    world_child(w, world_child(w, one, 3, 48, 7, 4, 0), 4, 64, 8, 4, 4);
    r.leaf = world_child(w, world_child(w, two, 3, 48, 9, 1, 0), 4, 64, 8, 1, 1);
    world_child(w, one, 5, 48, 10, 100, 100);
    world_child(w, two, 6, 48, 11, 100, 100);
    world_finish(w);
    r.model = coherence_new(w->resolver);
    return r;
}

static void note(struct rig *r, unsigned function, uint32_t height, uint32_t true_path)
{
    struct place place;
    cr_assert(process_place(r->world->self.process, fun(function), &place));
    const struct image_function *f = image_function(place.image, place.function);
    uint32_t image = trie_image(r->world->trie, image_path(place.image), image_build_id(place.image));
    uint32_t number = trie_function(r->world->trie, image, f->address, f->name);
    cr_assert_eq(survey_add(r->survey, (struct run_time){1, r->time += 1000},
                            &(struct wanted){number, height, SETTING_ANY, 0, 0, 0}, true_path),
                 0);
}

static void run(struct rig *r, uint32_t rounds)
{
    struct expectation_input input = {
        .survey = r->survey, .resolver = r->world->resolver, .model = r->model, .rounds = rounds};
    struct fathom_error err = {0};
    cr_assert_eq(expectation_run(&input, &err), 0, "%s", err.text);
}

/* The share of fun4 under fun2 among all fun4. */
static double share(const struct rig *r)
{
    const struct candidate_path *candidates;
    struct pathmap_node leaf = pathmap_node(r->world->map, pathmap_number(r->world->map, r->leaf));
    uint32_t answer, first;
    double two = 0, all = 0;
    cr_assert_eq(resolver_find(r->world->resolver, SETTING_ANY, leaf.function, leaf.height, &answer), 1);
    uint32_t count = resolver_candidates(r->world->resolver, answer, &candidates, &first);
    for (uint32_t i = 0; i < count; i++) {
        all += coherence_share(r->model, first + i);
        two += candidates[i].node == pathmap_number(r->world->map, r->leaf)
                   ? coherence_share(r->model, first + i)
                   : 0;
    }
    return two / all;
}

static void end(struct rig *r)
{
    coherence_free(r->model);
    survey_free(r->survey);
    world_close(r->world);
}

/* Long stretches under fun1 without fun4, and under fun2 with it. */
static void tell(struct rig *r)
{
    for (int i = 0; i < 400; i++)
        note(r, i / 40 % 2 ? (i % 3 ? 6 : 4) : 5, i / 40 % 2 && i % 3 == 0 ? 64 : 48, TRIE_NONE);
}

Test(expectation, this_run_outvotes_training)
{
    struct rig r = begin();
    tell(&r);
    run(&r, 0);
    double before = share(&r);
    cr_expect_lt(before, 0.3, "as trained: %g", before);
    end(&r);
    r = begin();
    tell(&r);
    run(&r, EXPECTATION_ROUNDS);
    cr_expect_gt(share(&r), before + 0.2, "%g", share(&r));
    end(&r);
}

Test(expectation, anchors_are_states)
{
    struct rig r = begin();
    uint32_t state, first, answer;
    const struct candidate_path *candidates;
    cr_assert_eq(expectation_true_path(r.world->resolver, r.model, SETTING_ANY,
                                       pathmap_number(r.world->map, r.leaf), &state),
                 1);
    struct pathmap_node leaf = pathmap_node(r.world->map, pathmap_number(r.world->map, r.leaf));
    cr_assert_eq(resolver_find(r.world->resolver, SETTING_ANY, leaf.function, leaf.height, &answer), 1);
    resolver_candidates(r.world->resolver, answer, &candidates, &first);
    cr_expect_eq(candidates[state - first].node, pathmap_number(r.world->map, r.leaf));
    cr_expect_eq(expectation_true_path(r.world->resolver, r.model, SETTING_ANY, PATHMAP_NONE, &state), 0);
    note(&r, 4, 64, TRIE_NONE);
    note(&r, 4, 64, r.leaf);
    note(&r, 4, 64, TRIE_NONE);
    run(&r, EXPECTATION_ROUNDS);
    cr_expect_gt(share(&r), 0.2, "more than training's fifth: %g", share(&r));
    end(&r);
}

Test(expectation, nothing_at_all)
{
    struct rig r = begin();
    run(&r, EXPECTATION_ROUNDS);
    note(&r, 5, 48, TRIE_NONE);
    run(&r, EXPECTATION_ROUNDS);
    end(&r);
}

Test(survey, counts_cids_and_keeps_each_threads_moments)
{
    struct survey *s = survey_new();
    const struct wanted *cids;
    const struct moment *moments;
    for (uint32_t i = 0; i < 100; i++)
        cr_assert_eq(survey_add(s, (struct run_time){i % 2, i},
                                &(struct wanted){i % 4, 16, SETTING_ANY, 0, 0, 0}, i == 50 ? 7 : TRIE_NONE),
                     0);
    cr_assert_eq(survey_cids(s, &cids), 4u);
    cr_assert_eq(survey_threads(s), 2u);
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(cids[i].function, i);
        cr_expect_eq(cids[i].samples, 25u);
    }
    cr_assert_eq(survey_moments(s, 0, &moments), 50u);
    cr_expect_eq(moments[25].time, 50u);
    cr_expect_eq(moments[25].cid, 2u);
    cr_expect_eq(moments[25].true_path, 7u);
    cr_expect_eq(moments[24].true_path, TRIE_NONE);
    survey_free(s);
}
