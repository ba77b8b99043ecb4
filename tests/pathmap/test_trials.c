/* test_trials.c - what parts of a training predict of each other. */
#include <criterion/criterion.h>
#include <errno.h>

#include "pathmap/map/pathmap.h"

static const struct build_id build_a = {4, {1, 2, 3, 4}}, build_b = {4, {1, 2, 3, 5}};

/* main (height 8) calls one of `callers` functions (at 32), which all call leaf (at 64): one CID, several paths. `leaf` is at 80 below
 * the last of them: another CID. */
enum { CALLERS = 4 };

struct input {
    struct trie *trie;
    uint32_t leaf[CALLERS]; /* nodes */
};

static struct input input_of(const struct build_id *build)
{
    struct input input = {.trie = trie_new()};
    struct trie *t = input.trie;
    uint32_t image = trie_image(t, "/bin/a", build), leaf = trie_function(t, image, 0x9000, "leaf");
    uint32_t main = trie_child(t, TRIE_ROOT, trie_function(t, image, 0x1000, "main"), 8, 0);
    for (uint32_t i = 0; i < CALLERS; i++) {
        uint32_t caller = trie_child(t, main, trie_function(t, image, 0x2000 + i, NULL), 32, 0x1010);
        input.leaf[i] = trie_child(t, caller, leaf, i == CALLERS - 1 ? 80 : 64, 0x2010);
    }
    return input;
}

/* So many samples below one of the callers. */
static void sample(struct input *input, uint32_t caller, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        trie_add_path(input->trie, input->leaf[caller]);
}

static struct pathmap *map_of(const struct trie *trie)
{
    void *data;
    size_t size;
    struct pathmap *map;
    cr_assert_eq(trie_serialise(trie, &data, &size, NULL), 0);
    cr_assert_eq(pathmap_open_memory(data, size, &map, NULL), 0);
    return map;
}

static uint32_t trials_in(const struct trie *trie, const struct trial **out, struct pathmap **map)
{
    *map = map_of(trie);
    return pathmap_trials(*map, out);
}

static void expect_trial(const struct trial *trial, enum trial_part part, uint64_t samples, uint64_t known,
                         uint64_t right, uint64_t wrong)
{
    cr_expect(trial->part == part && trial->samples == samples && trial->known == known &&
                  trial->right == right && trial->wrong == wrong,
              "part %d: %lu samples, %lu known, %lu right, %lu wrong", trial->part, trial->samples,
              trial->known, trial->right, trial->wrong);
}

/* Adds another input to the first one, which keeps the result, and closes it. */
static void merge(struct input *into, struct input *other)
{
    struct pathmap *map = map_of(other->trie);
    cr_assert_eq(trials_merge(into->trie, map, NULL), 0);
    pathmap_close(map);
    trie_free(other->trie);
}

Test(trials, inputs_are_tried_by_each_other)
{
    struct input a = input_of(&build_a), b = input_of(&build_a);
    struct pathmap *map;
    const struct trial *trials;
    sample(&a, 0, 10); /* right for b; the most of a's */
    sample(&a, 1, 4);  /* b has it, but another more often: open */
    sample(&a, 2, 3);  /* b has the CID, and not this: wrong */
    sample(&a, 3, 2);  /* b does not have the CID: open */
    sample(&b, 0, 6);
    sample(&b, 1, 5);
    merge(&a, &b);
    cr_assert_eq(trials_in(a.trie, &trials, &map), 2);
    expect_trial(&trials[0], TRIAL_INPUT, 19, 17, 10, 3);
    expect_trial(&trials[1], TRIAL_INPUT, 11, 11, 6, 0);
    /* b: (6 + 6 / 11) / 12 of 17; a: (10 + 10 / 17) / 18 of 11. */
    cr_expect(trials[0].said == 9 && trials[1].said == 6, "%lu and %lu", trials[0].said, trials[1].said);
    pathmap_close(map);
    trie_free(a.trie);
}

Test(trials, each_input_is_tried_once)
{
    struct input all = input_of(&build_a);
    struct pathmap *map;
    const struct trial *trials;
    sample(&all, 0, 10);
    for (uint32_t i = 0; i < TRIALS_MAX + 2; i++) {
        struct input next = input_of(&build_a);
        sample(&next, i % 2, 5 + i);
        merge(&all, &next);
    }
    cr_assert_eq(trials_in(all.trie, &trials, &map), TRIALS_MAX);
    expect_trial(&trials[0], TRIAL_INPUT, 10, 10, 10, 0);
    expect_trial(&trials[1], TRIAL_INPUT, 5, 5, 5, 0);
    expect_trial(&trials[2], TRIAL_INPUT, 6, 6, 0, 6);
    pathmap_close(map);
    trie_free(all.trie);
}

Test(trials, other_programs_try_nothing)
{
    struct input a = input_of(&build_a), b = input_of(&build_b), bare = input_of(&build_a);
    struct pathmap *map;
    const struct trial *trials;
    sample(&a, 0, 10);
    sample(&b, 0, 10);
    merge(&a, &b);
    merge(&a, &bare);
    cr_expect_eq(trials_in(a.trie, &trials, &map), 0);
    pathmap_close(map);
    trie_free(a.trie);
}

/* The first sixth of the time is like none of the others. */
Test(trials, slices_of_time_are_tried_by_the_others)
{
    struct input a = input_of(&build_a);
    uint32_t leaves[TRIAL_SLICES * 10 + 1];
    const struct trial *trials;
    struct pathmap *map;
    size_t count = 0;
    for (uint32_t i = 0; i < TRIAL_SLICES * 10; i++) {
        leaves[count++] = a.leaf[i < 10 ? 3 : i % 10 < 3];
        if (i == 15)
            leaves[count++] = TRIE_NONE;
    }
    cr_assert_eq(trials_slice(leaves, TRIAL_SLICES - 1, a.trie, NULL), 0);
    cr_assert_eq(trials_in(a.trie, &trials, &map), 0, "too few");
    pathmap_close(map);
    cr_assert_eq(trials_slice(leaves, count, a.trie, NULL), 0);
    cr_assert_eq(trials_in(a.trie, &trials, &map), TRIAL_SLICES);
    expect_trial(&trials[0], TRIAL_SLICE, 10, 0, 0, 0);
    for (uint32_t i = 1; i < TRIAL_SLICES; i++)
        expect_trial(&trials[i], TRIAL_SLICE, 10, 10, 7, 0);
    struct trie *hooked = trie_new();
    cr_assert_eq(trie_merge(hooked, map, NULL), 0, "of the same input: nothing is tried");
    pathmap_close(map);
    cr_expect_eq(trials_in(hooked, &trials, &map), TRIAL_SLICES);
    pathmap_close(map);
    trie_free(hooked);
    trie_free(a.trie);
}

Test(trials, several_inputs_say_more_than_slices)
{
    struct input a = input_of(&build_a), b = input_of(&build_a);
    const struct trial *trials;
    struct pathmap *map;
    uint32_t leaves[TRIAL_SLICES];
    for (uint32_t i = 0; i < TRIAL_SLICES; i++)
        leaves[i] = a.leaf[0];
    cr_assert_eq(trials_slice(leaves, TRIAL_SLICES, a.trie, NULL), 0);
    sample(&a, 0, TRIAL_SLICES);
    sample(&b, 0, 1);
    merge(&b, &a);
    cr_assert_eq(trials_in(b.trie, &trials, &map), 2);
    expect_trial(&trials[0], TRIAL_INPUT, 1, 1, 1, 0);
    expect_trial(&trials[1], TRIAL_INPUT, TRIAL_SLICES, TRIAL_SLICES, TRIAL_SLICES, 0);
    pathmap_close(map);
    trie_free(b.trie);
}

Test(trials, damaged_ones_are_refused)
{
    const struct trial bad[] = {{10, 5, 3, 1, 6, TRIAL_INPUT}, {10, 11, 8, 3, 8, TRIAL_SLICE},
                                {10, 5, 6, 0, 5, TRIAL_INPUT}, {10, 5, 3, 3, 5, TRIAL_INPUT},
                                {10, 2, 1, 1, 2, TRIAL_PARTS}, {10, 2, 1, 1, 2, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct input a = input_of(&build_a);
        struct fathom_error err;
        struct pathmap *map;
        void *data;
        size_t size;
        sample(&a, 0, 1);
        trials_add(a.trie, bad[i]);
        cr_assert_eq(trie_serialise(a.trie, &data, &size, NULL), 0);
        cr_expect_eq(pathmap_open_memory(data, size, &map, &err), -EBADMSG, "%zu", i);
        trie_free(a.trie);
    }
}
