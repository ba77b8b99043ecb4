/* Evaluation against a map made by hand: the paper's categories, degrees, right frames, calibration. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "evaluate/evaluation.h"
#include "tests/infer/world.h"

/* One map to infer by, one that is true. */
struct attempt {
    struct world *trained, *true_world;
    struct truth *truth;
    struct evaluation *evaluation;
};

static struct attempt begin(void)
{
    return (struct attempt){.trained = world_open(), .true_world = world_open()};
}

static void ready(struct attempt *t)
{
    struct image *image = world_image(t->trained);
    struct trie *trie = t->trained->trie; /* training saw every call */
    trie_set_hooked(trie, trie_image(trie, image_path(image), image_build_id(image)));
    world_finish(t->trained);
    world_finish(t->true_world);
    struct self *self = &t->trained->self;
    cr_assert_eq(process_set_stack(self->process, self_tid(), BASE - 0x100000, BASE, NULL), 0);
    t->truth = truth_new(t->true_world->map);
    t->evaluation = evaluation_new(t->truth);
    cr_assert(t->truth && t->evaluation);
}

static void end(struct attempt *t)
{
    evaluation_free(t->evaluation);
    truth_free(t->truth);
    world_close(t->trained);
    world_close(t->true_world);
}

static void sample_from(struct attempt *t, enum resolved_source source, unsigned function, uint32_t height,
                        uint64_t weight)
{
    struct world *w = t->trained;
    struct sample s = world_sample(function, BASE, height);
    struct resolved r;
    s.period = weight;
    cr_assert_eq(world_resolve(w, w->self.process, &s, &r, NULL), 0);
    r.source = source;
    cr_assert_eq(evaluation_add(t->evaluation, w->map, w->self.process, &s, &r, NULL), 0);
}

static void sample(struct attempt *t, unsigned function, uint32_t height, uint64_t weight)
{
    sample_from(t, SOURCE_CID, function, height, weight);
}

static struct score score(const struct attempt *t)
{
    struct score s;
    cr_assert_eq(evaluation_score(t->evaluation, &s, NULL), 0);
    return s;
}

static void expect_tally(const char *what, struct tally tally, uint64_t paths, double weight)
{
    cr_expect_eq(tally.paths, paths, "%s: %llu paths", what, (unsigned long long)tally.paths);
    cr_expect_float_eq(tally.weight, weight, 1e-6, "%s: weight %g", what, tally.weight);
}

/* A path fun0 .. of samples at the heights 0, 16, 32, ..., its end at `height`. */
static void path(struct world *w, const char *functions, uint32_t height, uint64_t samples)
{
    uint32_t node = TRIE_ROOT, at = 0;
    for (; functions[1]; functions++, at += 16)
        node = world_child(w, node, (unsigned)(*functions - '0'), at, 0, samples, 0);
    world_child(w, node, (unsigned)(*functions - '0'), height, 0, samples, samples);
}

Test(evaluation, puts_paths_into_the_categories_of_the_paper)
{
    struct attempt t = begin();
    path(t.trained, "014", 48, 10);
    path(t.trained, "013", 48, 30);
    path(t.trained, "023", 48, 10);
    path(t.trained, "015", 48, 10);
    path(t.true_world, "014", 48, 1);
    path(t.true_world, "023", 48, 1);
    path(t.true_world, "025", 48, 1);
    path(t.true_world, "026", 48, 1);
    ready(&t);
    sample(&t, 4, 48, 100); /* precise */
    sample(&t, 3, 48, 20);  /* ambiguous; the counts choose the other path */
    sample(&t, 3, 48, 5);
    sample(&t, 5, 48, 7); /* incorrect: only fun0 fun1 fun5 is known */
    sample(&t, 6, 48, 3); /* missing */
    sample(&t, 7, 48, 2); /* not in the truth map */
    struct score s = score(&t);
    expect_tally("precise", s.category[CATEGORY_PRECISE], 1, 100);
    expect_tally("ambiguous", s.category[CATEGORY_AMBIGUOUS], 1, 25);
    expect_tally("incorrect", s.category[CATEGORY_INCORRECT], 1, 7);
    expect_tally("missing", s.category[CATEGORY_MISSING], 1, 3);
    expect_tally("all", s.all, 4, 135);
    expect_tally("right", s.right, 1, 100);
    expect_tally("1-precise", s.within[0], 1, 100);
    expect_tally("2-precise", s.within[1], 2, 125);
    expect_tally("20-precise", s.within[DEGREES - 1], 2, 125);
    cr_expect_eq(s.samples, 6u);
    cr_expect_eq(s.no_truth[NO_TRUTH_IN_MAP], 2);
    cr_expect_float_eq(s.right_frames, 100 + 25 * 2.0 / 3 + 7 * 2.0 / 3, 1e-6, "%g", s.right_frames);
    end(&t);
}

/* Paths that no sample fell on count by what is said of them, as the others do. */
Test(evaluation, decides_paths_without_weight_by_their_verdicts)
{
    struct attempt t = begin();
    path(t.trained, "014", 48, 10);
    path(t.trained, "013", 48, 30);
    path(t.trained, "023", 48, 10);
    path(t.trained, "015", 48, 10);
    path(t.true_world, "014", 48, 1);
    path(t.true_world, "023", 48, 1);
    path(t.true_world, "025", 48, 1);
    path(t.true_world, "026", 48, 1);
    ready(&t);
    for (unsigned function = 3; function <= 6; function++)
        sample(&t, function, 48, 0);
    struct score s = score(&t);
    expect_tally("precise", s.category[CATEGORY_PRECISE], 1, 0);
    expect_tally("ambiguous", s.category[CATEGORY_AMBIGUOUS], 1, 0);
    expect_tally("incorrect", s.category[CATEGORY_INCORRECT], 1, 0);
    expect_tally("missing", s.category[CATEGORY_MISSING], 1, 0);
    expect_tally("all", s.all, 4, 0);
    expect_tally("right", s.right, 1, 0);
    end(&t);
}

Test(evaluation, shows_the_heaviest_wrong_contexts_first)
{
    struct attempt t = begin();
    path(t.trained, "013", 48, 10);
    path(t.trained, "014", 48, 10);
    path(t.trained, "015", 48, 10);
    path(t.true_world, "023", 48, 1);
    path(t.true_world, "024", 48, 1);
    path(t.true_world, "015", 48, 1);
    path(t.true_world, "006", 48, 1);
    ready(&t);
    sample(&t, 3, 48, 1);
    sample(&t, 4, 48, 9);
    sample(&t, 4, 48, 9);
    sample(&t, 5, 48, 50);
    sample(&t, 6, 48, 4);
    struct verdict *wrong;
    size_t count;
    cr_assert_eq(evaluation_wrong(t.evaluation, &wrong, &count, NULL), 0);
    cr_assert_eq(count, 3u);
    cr_expect_str_eq(world_path(t.trained, wrong[0].node), "fun0 fun1 fun4");
    cr_expect_eq(wrong[0].samples, 2u);
    cr_expect_eq(wrong[0].weight, 18);
    cr_expect_eq(wrong[0].cid.height, 48u);
    cr_expect_eq(wrong[1].node, PATHMAP_NONE);
    cr_expect_eq(wrong[1].category, CATEGORY_MISSING);
    cr_expect_eq(wrong[1].reason, UNKNOWN_CONTEXT);
    cr_expect_eq(wrong[2].weight, 1);
    const uint32_t *functions;
    cr_assert_eq(truth_path(t.truth, wrong[2].truth, &functions), 3u);
    struct true_function second = truth_function(t.truth, functions[1]);
    cr_expect_str_eq(second.name, "fun2");
    cr_expect_str_eq(second.image, image_path(world_image(t.trained)));
    free(wrong);
    end(&t);
}

/* Each CID's most probable path is said to be as likely as training saw it, and is true of the share that the
 * truth map saw: (s + p / P) / (S + 1) of resolver.h. */
Test(evaluation, tells_how_far_probabilities_can_be_believed)
{
    struct attempt t = begin();
    path(t.trained, "013", 48, 75); /* says 75% */
    path(t.trained, "023", 48, 25);
    path(t.true_world, "013", 48, 60);
    path(t.true_world, "023", 48, 40);
    path(t.trained, "014", 48, 55); /* says 55% */
    path(t.trained, "024", 48, 45);
    path(t.true_world, "014", 48, 55);
    path(t.true_world, "024", 48, 45);
    path(t.trained, "015", 48, 1); /* sure */
    path(t.true_world, "015", 48, 3);
    path(t.true_world, "026", 48, 1); /* without an answer */
    ready(&t);
    for (int i = 0; i < 10; i++) {
        sample(&t, 3, 48, 10);
        sample(&t, 4, 48, 20);
        sample(&t, 5, 48, 5);
        sample(&t, 6, 48, 1000);
    }
    struct score s = score(&t);
    double weight[BINS] = {[5] = 200, [7] = 100, [9] = 50}, right[BINS] = {[5] = 110, [7] = 60, [9] = 50};
    double said[BINS] = {[5] = 110, [7] = 75, [9] = 50};
    for (unsigned i = 0; i < BINS; i++) {
        cr_expect_float_eq(s.bins[i].weight, weight[i], 1e-6, "%u: %g", i, s.bins[i].weight);
        cr_expect_float_eq(s.bins[i].right, right[i], 1e-6, "%u: %g", i, s.bins[i].right);
        cr_expect_float_eq(s.bins[i].said, said[i], 1e-4, "%u: %g", i, s.bins[i].said);
    }
    cr_expect_float_eq(s.calibration_error, 15.0 / 350, 1e-6, "%g", s.calibration_error);
    cr_expect_float_eq(s.said, 235, 1e-4);
    expect_tally("right", s.right, 3, 220);
    end(&t);
}

Test(evaluation, proved_is_what_a_stack_showed_whatever_the_cid_is_called)
{
    struct attempt t = begin();
    path(t.trained, "014", 48, 10);
    path(t.trained, "023", 48, 10);
    path(t.true_world, "014", 48, 1);
    ready(&t);
    sample(&t, 4, 48, 100); /* one path has the CID */
    sample_from(&t, SOURCE_VERIFIED, 4, 48, 4);
    sample_from(&t, SOURCE_COMPARED, 4, 48, 2);
    struct score s = score(&t);
    expect_tally("precise", s.category[CATEGORY_PRECISE], 1, 106);
    cr_expect_float_eq(s.called_precise.weight, 106, 1e-9);
    cr_expect_float_eq(s.proved.weight, 4, 1e-9);
    cr_expect_float_eq(s.proved.right, 4, 1e-9);
    end(&t);
}
