/* Whether a run leaves what training saw: known answers. */
#include <criterion/criterion.h>

#include "infer/model/openness.h"
#include "infer/samples/settings.h"

/* Training saw f at 16 and 32, of an image that is hooked or not; the library is not. */
struct rig {
    struct trie *trie;
    uint32_t f, g, library;
    struct pathmap *trained, *map;
    struct survey *survey;
};

static struct pathmap *map_of(const struct trie *trie)
{
    void *data;
    size_t size;
    struct pathmap *map;
    cr_assert_eq(trie_serialise(trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &map, NULL), 0);
    return map;
}

static struct rig begin(bool hooked)
{
    struct rig r = {.trie = trie_new(), .survey = survey_new()};
    struct build_id id = {4, {1, 2, 3, 4}}, other = {4, {5, 6, 7, 8}};
    uint32_t image = trie_image(r.trie, "/bin/program", &id),
             library = trie_image(r.trie, "/lib/library", &other);
    if (hooked)
        trie_set_hooked(r.trie, image);
    r.f = trie_function(r.trie, image, 0x1000, NULL);
    uint32_t outer = trie_child(r.trie, TRIE_ROOT, r.f, 16, 0);
    trie_add(r.trie, outer, 2, 1);
    trie_add(r.trie, trie_child(r.trie, outer, r.f, 32, 0), 1, 1);
    r.trained = map_of(r.trie);
    /* the run brings a function of its own and the library's */
    r.g = trie_function(r.trie, image, 0x2000, NULL);
    r.library = trie_function(r.trie, library, 0x1000, NULL);
    trie_add(r.trie, trie_child(r.trie, outer, r.f, 48, 0), 1, 1);
    cr_assert_eq(pathmap_over(r.trie, &r.map, NULL), 0);
    return r;
}

static void end(struct rig *r)
{
    survey_free(r->survey);
    pathmap_close(r->trained);
    pathmap_close(r->map);
    trie_free(r->trie);
}

static void add(struct rig *r, uint32_t function, uint32_t height, int samples)
{
    for (int i = 0; i < samples; i++)
        cr_assert_eq(survey_add(r->survey, (struct run_time){1, (uint64_t)i},
                                &(struct wanted){function, height, SETTING_ANY, 0, 0}, TRIE_NONE),
                     0);
}

Test(openness, is_the_share_of_samples_that_training_never_saw)
{
    struct rig r = begin(true);
    cr_expect_eq(openness_of(r.survey, r.map, r.trained), 0, "no samples");
    cr_expect(openness_hooked(r.trained));
    add(&r, r.f, 16, 5);
    add(&r, r.f, 32, 1);
    cr_expect_eq(openness_of(r.survey, r.map, r.trained), 0);
    add(&r, r.library, 96, 100); /* training sees no calls of it */
    cr_expect_eq(openness_of(r.survey, r.map, r.trained), 0);
    add(&r, r.f, 48, 2); /* the map has it now, but not from training */
    cr_expect_eq(openness_of(r.survey, r.map, r.trained), 0.25);
    end(&r);
}

Test(openness, functions_that_training_never_saw_tell_too)
{
    struct rig r = begin(true);
    trie_add(r.trie, trie_child(r.trie, TRIE_ROOT, r.g, 16, 0), 1, 1);
    cr_assert_eq(pathmap_update(r.map, NULL), 0);
    add(&r, r.f, 16, 1);
    add(&r, r.g, 16, 1);
    cr_expect_eq(openness_of(r.survey, r.map, r.trained), 0.5);
    end(&r);
}

Test(openness, without_hooks_the_world_is_open)
{
    struct rig r = begin(false);
    add(&r, r.f, 16, 1);
    cr_expect_eq(openness_of(r.survey, r.map, r.trained), 1);
    cr_expect_eq(openness_of(r.survey, r.map, NULL), 1);
    cr_expect_not(openness_hooked(r.trained));
    end(&r);
}
