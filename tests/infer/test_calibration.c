/* How far probabilities are believed after cross-validation. */
#include <criterion/criterion.h>

#include <math.h>

#include "infer/model/calibration.h"

static struct resolved answer(enum resolved_kind kind, double probability)
{
    return (struct resolved){.kind = kind, .source = SOURCE_CID, .probability = probability, .paths = 2};
}

struct told {
    enum resolved_kind kind;
    double probability;
    uint32_t unseen;
};

/* So many samples of paths number first to last. */
static void note(struct calibration *c, struct told told, uint32_t first, uint32_t last, bool right)
{
    struct resolved resolved = answer(told.kind, told.probability);
    for (uint32_t path = first; path <= last; path++)
        cr_assert_eq(calibration_note(c, &resolved, told.unseen, &(struct held_stack){path, path}, right), 0);
}

static struct belief belief(struct calibration *c, enum resolved_kind kind, uint32_t unseen)
{
    struct resolved resolved = answer(kind, 1);
    return calibration_belief(c, &resolved, unseen);
}

static double factor(struct calibration *c, enum resolved_kind kind, uint32_t unseen)
{
    return belief(c, kind, unseen).factor;
}

Test(calibration, nothing_was_validated)
{
    struct calibration *c = calibration_new();
    double before = factor(c, RESOLVED_INFERRED, 1);
    cr_expect_float_eq(before, 0.8, 0.01, "%g", before);
    cr_expect_eq(factor(c, RESOLVED_AMBIGUOUS, 0), 1);
    calibration_settle(c);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED, 1), before, 1e-9, "no stacks tell nothing else");
    for (enum resolved_kind kind = RESOLVED_PRECISE; kind <= RESOLVED_INFERRED; kind++) {
        cr_expect_eq(belief(c, kind, 1).least, 0);
        cr_expect_eq(belief(c, kind, 1).most, 1);
    }
    calibration_free(c);
}

Test(calibration, many_stacks_say_how_often_a_call_is_right)
{
    struct calibration *c = calibration_new();
    note(c, (struct told){RESOLVED_INFERRED, 1, 1}, 1, 800, true);
    note(c, (struct told){RESOLVED_INFERRED, 1, 1}, 801, 1000, false);
    note(c, (struct told){RESOLVED_INFERRED, 1, 3}, 1, 512, true);
    note(c, (struct told){RESOLVED_INFERRED, 1, 3}, 513, 1000, false);
    calibration_settle(c);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED, 1), 0.8, 0.01);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED, 2), 0.64, 0.01);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED, 10), pow(0.8, 10), 0.01);
    cr_expect_eq(factor(c, RESOLVED_AMBIGUOUS, 0), 1);
    cr_expect_eq(factor(c, RESOLVED_PRECISE, 0), 1);
    struct resolved own = answer(RESOLVED_INFERRED, 0.8);
    own.source = SOURCE_COMPARED;
    cr_expect_eq(calibration_belief(c, &own, 3).factor, 1, "it is not inferred");
    calibration_free(c);
}

/* Where nothing else leads to the height, it is rarely wrong. */
Test(calibration, the_only_path_has_a_rate_of_its_own)
{
    struct calibration *c = calibration_new();
    struct resolved only = answer(RESOLVED_INFERRED, 1);
    only.paths = 1;
    cr_expect_float_eq(calibration_belief(c, &only, 2).factor, 0.97 * 0.97, 0.01);
    for (uint32_t path = 1; path <= 1000; path++)
        cr_assert_eq(calibration_note(c, &only, 1, &(struct held_stack){path, path}, path % 10 != 0), 0);
    calibration_settle(c);
    cr_expect_float_eq(calibration_belief(c, &only, 1).factor, 0.9, 0.01);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED, 1), 0.8, 0.01, "no such stack was seen");
    calibration_free(c);
}

/* All paths of a tracepoint may share one height, and the few stacks that were read need not be all that there are. */
Test(calibration, what_was_seen_is_scaled_too)
{
    struct calibration *c = calibration_new();
    note(c, (struct told){RESOLVED_AMBIGUOUS, 0.9, 0}, 1, 450, true);
    note(c, (struct told){RESOLVED_AMBIGUOUS, 0.9, 0}, 451, 980, false);
    note(c, (struct told){RESOLVED_PRECISE, 0.9, 0}, 981, 1000, false);
    calibration_settle(c);
    cr_expect_float_eq(factor(c, RESOLVED_AMBIGUOUS, 0), 0.5, 0.01);
    cr_expect_float_eq(factor(c, RESOLVED_PRECISE, 0), 0.5, 0.01);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED, 1), 0.8, 0.01, "no such stack was seen");
    calibration_free(c);
}

/* Fifteen stacks that were all right allow for a fifth that is not (Wilson: 79.6%), and a thousand samples of one stack that
 * was read tell no more than that one does. */
Test(calibration, the_range_is_that_of_so_many_stacks)
{
    struct calibration *few = calibration_new(), *many = calibration_new(), *one = calibration_new();
    struct resolved sure = answer(RESOLVED_PRECISE, 1);
    note(few, (struct told){RESOLVED_PRECISE, 1, 0}, 1, 15, true);
    note(many, (struct told){RESOLVED_PRECISE, 1, 0}, 1, 1500, true);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(calibration_note(one, &sure, 0, &(struct held_stack){1, 1}, true), 0);
    calibration_settle(few);
    calibration_settle(many);
    calibration_settle(one);
    cr_expect_leq(belief(few, RESOLVED_PRECISE, 0).least, 0.797);
    cr_expect_gt(belief(many, RESOLVED_PRECISE, 0).least, 0.99);
    cr_expect_lt(belief(one, RESOLVED_PRECISE, 0).least, 0.21);
    calibration_free(few);
    calibration_free(many);
    calibration_free(one);
}

Test(calibration, never_more_than_was_said)
{
    struct calibration *c = calibration_new();
    note(c, (struct told){RESOLVED_INFERRED, 0.5, 2}, 1, 100, true);
    calibration_settle(c);
    struct belief b = belief(c, RESOLVED_INFERRED, 2);
    cr_expect_float_eq(b.factor, 1, 0.02);
    cr_expect(b.least < b.factor && b.factor <= b.most && b.most <= 1);
    calibration_free(c);
}

/* A thousand samples of one path are one stack; of two hundred paths they are two hundred. */
Test(calibration, samples_of_one_path_count_once)
{
    struct calibration *one = calibration_new(), *many = calibration_new();
    for (int i = 0; i < 1000; i++)
        note(one, (struct told){RESOLVED_INFERRED, 1, 1}, 7, 7, false);
    for (int i = 0; i < 5; i++)
        note(many, (struct told){RESOLVED_INFERRED, 1, 1}, 1, 200, false);
    calibration_settle(one);
    calibration_settle(many);
    /* One stack that was wrong, and two of which 0.8 were right; at most one count apart from that. */
    cr_expect_float_eq(factor(one, RESOLVED_INFERRED, 1), 2 * 0.8 / 3, 1e-3);
    cr_expect_float_eq(factor(many, RESOLVED_INFERRED, 1), 2 * 0.8 / 202, 1e-3);
    calibration_free(one);
    calibration_free(many);
}

/* The number that answers are drawn with is found again, and lies inside its bounds. */
Test(calibration, the_chance_is_recovered)
{
    uint64_t seed = 1;
    for (unsigned run = 0; run < 20; run++) {
        struct calibration *c = calibration_new();
        double chance = 0.5 + 0.025 * run;
        for (uint32_t path = 0; path < 4000; path++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            double said = 0.25 + (double)(path % 4) / 4, drawn = (double)(seed >> 40) / (1 << 24);
            uint32_t unseen = path % 7 + 1;
            note(c, (struct told){RESOLVED_INFERRED, said, unseen}, path, path,
                 drawn < said * pow(chance, unseen));
        }
        calibration_settle(c);
        struct belief b = belief(c, RESOLVED_INFERRED, 1);
        cr_expect_float_eq(b.factor, chance, 0.04, "%g for %g", b.factor, chance);
        cr_expect_lt(b.most - b.least, 0.1);
        cr_expect(b.least <= b.factor && b.factor <= b.most);
        calibration_free(c);
    }
}

/* At 90%, twenty stacks leave it open by some 13 points to either side; a thousand by two. */
Test(calibration, more_stacks_leave_a_narrower_range)
{
    for (uint32_t stacks = 20; stacks <= 2000; stacks *= 10) {
        struct calibration *c = calibration_new();
        note(c, (struct told){RESOLVED_INFERRED, 1, 1}, 1, stacks * 9 / 10, true);
        note(c, (struct told){RESOLVED_INFERRED, 1, 1}, stacks * 9 / 10 + 1, stacks, false);
        calibration_settle(c);
        struct belief b = belief(c, RESOLVED_INFERRED, 1);
        double wide = 2 * 1.96 * sqrt(0.9 * 0.1 / stacks);
        cr_expect_float_eq(b.factor, 0.9, 0.01);
        cr_expect_float_eq(b.most - b.least, wide, wide / 8, "%u: %g %g", stacks, b.least, b.most);
        calibration_free(c);
    }
}

/* Deep paths that were right tell more than shallow ones that were not: the most probable rate is found between. */
Test(calibration, deep_and_shallow_paths_disagree)
{
    struct calibration *c = calibration_new();
    note(c, (struct told){RESOLVED_INFERRED, 1, 64}, 1, 10, true);
    note(c, (struct told){RESOLVED_INFERRED, 1, 1}, 11, 20, false);
    calibration_settle(c);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED, 1), 0.984, 0.002, "%g", factor(c, RESOLVED_INFERRED, 1));
    calibration_free(c);
}

/* What is said 300 calls deep is as good as nothing, and no sum overflows. */
Test(calibration, any_number_of_calls)
{
    struct calibration *c = calibration_new();
    note(c, (struct told){RESOLVED_INFERRED, 1, UINT32_MAX}, 1, 3, true);
    note(c, (struct told){RESOLVED_INFERRED, 0, 1}, 4, 5, true);
    note(c, (struct told){RESOLVED_INFERRED, 1, 0}, 6, 7, false);
    calibration_settle(c);
    struct belief b = belief(c, RESOLVED_INFERRED, UINT32_MAX);
    cr_expect(isfinite(b.factor) && b.least >= 0 && b.most <= 1);
    calibration_free(c);
}
