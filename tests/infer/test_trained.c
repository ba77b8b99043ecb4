/* What is expected of a map by how well parts of its training predict each other. */
#include <criterion/criterion.h>

#include <math.h>

#include "infer/model/calibration.h"

/* Of 200 samples, the half has a CID that the others know, whose paths are said to be right. */
static struct trial trial(enum trial_part part, uint64_t right, uint64_t wrong)
{
    return (struct trial){200, 100, right, wrong, 100, part};
}

static void expect(struct trained t, enum trained_by by, double seen, double least, double most)
{
    cr_expect(t.by == by && fabs(t.seen - seen) < 1e-9 && fabs(t.least - least) < 0.005 &&
                  fabs(t.most - most) < 0.005,
              "by %d: %g (%g to %g)", t.by, t.seen, t.least, t.most);
    cr_expect_float_eq(t.all, by == TRAINED_BY_NOTHING ? seen : seen / 2, 1e-9, "%g of all", t.all);
}

Test(trained, nothing_is_known_of_a_map_that_was_not_tried)
{
    expect(trained_of_trials(NULL, 0), TRAINED_BY_NOTHING, 0.5, 0, 1);
}

Test(trained, one_input_claims_no_more_than_its_lowest_slice)
{
    const struct trial trials[] = {trial(TRIAL_SLICE, 90, 1), trial(TRIAL_SLICE, 40, 10),
                                   trial(TRIAL_SLICE, 99, 0)};
    expect(trained_of_trials(trials, 3), TRAINED_BY_SLICES, 0.4, 0, 1);
    const struct trial mixed[] = {trial(TRIAL_INPUT, 30, 0), trial(TRIAL_INPUT, 90, 0),
                                  trial(TRIAL_SLICE, 40, 0)};
    expect(trained_of_trials(mixed, 3), TRAINED_BY_SLICES, 0.3, 0, 1);
    const struct trial strange = {200, 0, 0, 0, 0, TRIAL_SLICE};
    expect(trained_of_trials(&strange, 1), TRAINED_BY_SLICES, 0, 0, 1);
}

/* Two inputs say next to nothing of a third, even if they agree (Wilson: 0.28 to 1 of two at 0.9). Of twenty that differ by
 * ten points, the next is within some twenty of the mean; of twenty that agree, within Wilson's range; and what was open may all
 * be right. */
Test(trained, the_range_is_that_of_one_more_input)
{
    struct trial trials[20];
    for (int i = 0; i < 20; i++)
        trials[i] = trial(TRIAL_INPUT, 90, 10);
    expect(trained_of_trials(trials, 1), TRAINED_BY_INPUTS, 0.9, 0, 1);
    expect(trained_of_trials(trials, 2), TRAINED_BY_INPUTS, 0.9, 0.279, 0.995);
    expect(trained_of_trials(trials, 20), TRAINED_BY_INPUTS, 0.9, 0.699, 0.972);
    for (int i = 0; i < 20; i++)
        trials[i] = trial(TRIAL_INPUT, i % 2 ? 40 : 60, 30);
    expect(trained_of_trials(trials, 20), TRAINED_BY_INPUTS, 0.5, 0.28, 0.855);
}

/* Half of each input's samples have a CID that the others have not; Wilson's range of 20 at a half ends at 0.70. */
Test(trained, what_inputs_have_that_others_have_not)
{
    struct trial trials[20];
    for (int i = 0; i < 20; i++)
        trials[i] = trial(TRIAL_INPUT, 90, 10);
    struct trained t = trained_of_trials(trials, 20);
    cr_expect_float_eq(t.unseen, 0.5, 1e-9);
    cr_expect_float_eq(t.unseen_most, 0.701, 0.001);
    trials[0].part = TRIAL_SLICE;
    cr_expect_eq(trained_of_trials(trials, 20).unseen_most, 1, "slices tell nothing of inputs");
    cr_expect_eq(trained_of_trials(NULL, 0).unseen, 1, "nothing is known");
}

/* Where counts say that 70 of 100 are right, and 63 are, nine tenths of it can be believed; never more than all. */
Test(trained, what_is_said_is_believed_in_part)
{
    struct trial slice = {200, 100, 63, 0, 70, TRIAL_SLICE};
    cr_expect_float_eq(trained_of_trials(&slice, 1).seen, 0.9, 1e-9);
    slice.right = 80;
    cr_expect_eq(trained_of_trials(&slice, 1).seen, 1);
}

/* No answer of a map alone is surer than its training was right, whatever the model says, and its range no narrower. */
Test(trained, answers_are_no_surer_than_the_training)
{
    struct calibration *c = calibration_new();
    const struct trained trained = {
        .by = TRAINED_BY_INPUTS, .parts = 3, .seen = 0.6, .least = 0.2, .most = 0.95, .all = 0.3};
    struct resolved seen = {.kind = RESOLVED_PRECISE, .source = SOURCE_CID, .probability = 1, .paths = 1};
    struct resolved unseen = {
        .kind = RESOLVED_INFERRED, .source = SOURCE_CID, .probability = 0.5, .paths = 2};
    struct resolved own = {.kind = RESOLVED_PRECISE, .source = SOURCE_UNWOUND, .probability = 1};
    calibration_settle(c);
    cr_expect_eq(calibration_belief(c, &seen, 0).factor, 1, "nothing says otherwise");
    calibration_train(c, &trained);
    struct belief b = calibration_belief(c, &seen, 0);
    cr_expect_float_eq(b.factor, 0.6, 1e-9);
    cr_expect_float_eq(b.seen, 0.6, 1e-9);
    cr_expect(b.least == 0.2 && b.most == 0.95 && b.rate == 1);
    b = calibration_belief(c, &unseen, 2);
    cr_expect_float_eq(b.factor, 0.8 * 0.8 * 0.3, 0.01, "and for each call that was never seen");
    cr_expect_float_eq(b.factor, b.rate * b.rate * b.seen, 1e-9);
    cr_expect(b.least == 0 && b.most == 1);
    cr_expect_eq(calibration_belief(c, &own, 0).factor, 1, "it is not inferred");
    calibration_free(c);
}
