/* How far probabilities are believed after a rehearsal. */
#include <criterion/criterion.h>

#include "infer/model/calibration.h"

static struct resolved answer(enum resolved_kind kind, double probability)
{
    return (struct resolved){.kind = kind, .source = SOURCE_CID, .probability = probability};
}

/* So many samples of paths number first to last. */
static void note(struct calibration *c, enum resolved_kind kind, double probability, uint32_t first,
                 uint32_t last, bool right)
{
    struct resolved resolved = answer(kind, probability);
    for (uint32_t path = first; path <= last; path++)
        cr_assert_eq(calibration_note(c, &resolved, path, right), 0);
}

static double factor(const struct calibration *c, enum resolved_kind kind)
{
    struct resolved resolved = answer(kind, 0.9);
    return calibration_factor(c, &resolved);
}

Test(calibration, nothing_was_rehearsed)
{
    for (int trained = 0; trained < 2; trained++) {
        struct calibration *c = calibration_new(trained);
        double before = factor(c, RESOLVED_INFERRED);
        cr_expect(trained ? before == 1 : before < 0.9);
        cr_expect_eq(factor(c, RESOLVED_AMBIGUOUS), 1);
        calibration_settle(c);
        cr_expect_float_eq(factor(c, RESOLVED_INFERRED), before, 1e-9, "no stacks tell nothing else");
        cr_expect_eq(factor(c, RESOLVED_AMBIGUOUS), 1);
        calibration_free(c);
    }
}

Test(calibration, many_stacks_say_how_often_it_is_right)
{
    struct calibration *c = calibration_new(false);
    note(c, RESOLVED_INFERRED, 0.9, 1, 300, true);
    note(c, RESOLVED_INFERRED, 0.9, 301, 600, false);
    note(c, RESOLVED_AMBIGUOUS, 0.8, 1, 300, false);
    calibration_settle(c);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED), 0.5 / 0.9, 0.01);
    cr_expect_eq(factor(c, RESOLVED_AMBIGUOUS), 1);
    cr_expect_eq(factor(c, RESOLVED_PRECISE), 1);
    struct resolved own = answer(RESOLVED_INFERRED, 0.8);
    own.source = SOURCE_COMPARED;
    cr_expect_eq(calibration_factor(c, &own), 1, "it is not inferred");
    calibration_free(c);
}

/* What a map knows is of another run. */
Test(calibration, with_a_map_ambiguous_answers_are_scaled_too)
{
    struct calibration *c = calibration_new(true);
    note(c, RESOLVED_INFERRED, 1, 1, 20, false);
    note(c, RESOLVED_AMBIGUOUS, 1, 21, 40, true);
    note(c, RESOLVED_PRECISE, 1, 41, 60, false);
    calibration_settle(c);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED), 25.0 / 45, 1e-9);
    cr_expect_float_eq(factor(c, RESOLVED_AMBIGUOUS), 25.0 / 45, 1e-9);
    cr_expect_eq(factor(c, RESOLVED_PRECISE), 1);
    calibration_free(c);
}

Test(calibration, never_more_than_was_said)
{
    struct calibration *c = calibration_new(false);
    note(c, RESOLVED_INFERRED, 0.5, 1, 100, true);
    calibration_settle(c);
    cr_expect_eq(factor(c, RESOLVED_INFERRED), 1);
    calibration_free(c);
}

/* A thousand samples of one path are one stack; of two hundred paths they are two hundred. */
Test(calibration, samples_of_one_path_count_once)
{
    struct calibration *one = calibration_new(true), *many = calibration_new(true);
    for (int i = 0; i < 1000; i++)
        note(one, RESOLVED_INFERRED, 1, 7, 7, false);
    for (int i = 0; i < 5; i++)
        note(many, RESOLVED_INFERRED, 1, 1, 200, false);
    calibration_settle(one);
    calibration_settle(many);
    cr_expect_float_eq(factor(one, RESOLVED_INFERRED), 5.0 / 6, 1e-9);
    cr_expect_float_eq(factor(many, RESOLVED_INFERRED), 5.0 / 205, 1e-9);
    calibration_free(one);
    calibration_free(many);
}

/* Answers that are drawn from what they say are left nearly as they are. */
Test(calibration, honest_answers_stay)
{
    struct calibration *c = calibration_new(false);
    uint64_t seed = 1;
    for (uint32_t path = 0; path < 5000; path++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        double said = (double)(path % 10) / 10, drawn = (double)(seed >> 40) / (1 << 24);
        note(c, RESOLVED_INFERRED, said, path, path, drawn < said);
    }
    calibration_settle(c);
    cr_expect_float_eq(factor(c, RESOLVED_INFERRED), 1, 0.03);
    calibration_free(c);
}

/* At 90%, twenty stacks and the prior's five tell it to about 12 points. */
Test(calibration, few_stacks_leave_a_wide_range)
{
    struct calibration *c = calibration_new(true);
    cr_expect_lt(calibration_least(c), 0.6, "nothing was tried");
    cr_expect_float_eq(calibration_most(c), 1, 1e-9);
    note(c, RESOLVED_INFERRED, 1, 1, 17, true);
    note(c, RESOLVED_INFERRED, 1, 18, 20, false);
    calibration_settle(c);
    double said = factor(c, RESOLVED_INFERRED);
    cr_expect_float_eq(said, 22.0 / 25, 1e-9);
    cr_expect_float_eq(said * calibration_least(c), 0.7004, 1e-3, "%g", said * calibration_least(c));
    cr_expect_float_eq(said * calibration_most(c), 0.9583, 1e-3, "%g", said * calibration_most(c));
    calibration_free(c);
}

Test(calibration, many_stacks_leave_a_narrow_range)
{
    struct calibration *c = calibration_new(false);
    note(c, RESOLVED_INFERRED, 0.9, 1, 900, true);
    note(c, RESOLVED_INFERRED, 0.9, 901, 1000, false);
    calibration_settle(c);
    cr_expect_float_eq(calibration_least(c), 0.98, 0.01, "%g", calibration_least(c));
    cr_expect_float_eq(calibration_most(c), 1.02, 0.01, "%g", calibration_most(c));
    calibration_free(c);
}

/* More is right than was said, which is left as it is: the range lies above. */
Test(calibration, the_range_has_what_is_said)
{
    struct calibration *c = calibration_new(true);
    note(c, RESOLVED_INFERRED, 0.5, 1, 100, true);
    calibration_settle(c);
    cr_expect_eq(calibration_least(c), 1);
    cr_expect_gt(0.5 * calibration_most(c), 0.9);
    calibration_free(c);
}
