/* What chance can do: the noise of series whose noise is known, Student's t by its tables, many differences at once. */
#include <criterion/criterion.h>

#include <math.h>

#include "base/hash.h"
#include "profile/chance.h"

enum { CELLS = 256 };

static double uniform(uint64_t *state)
{
    return ((double)(hash_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* x[t] = keep * x[t - 1] + noise, less its mean. Its sum before that varies by count / (1 - keep)^2. */
static double make_series(double *series, double keep, uint64_t *state)
{
    double value = normal(state) / sqrt(1 - keep * keep), sum = 0;
    for (size_t i = 0; i < CELLS; i++) {
        series[i] = value;
        sum += value;
        value = keep * value + normal(state);
    }
    for (size_t i = 0; i < CELLS; i++)
        series[i] -= sum / CELLS;
    return sum;
}

/* The mean variance found is the true one, to a fifth: less for series that depend on themselves for long. */
static void expect_noise(double keep, double low, double high)
{
    uint64_t state = 7;
    double series[CELLS], mean = 0, rejected = 0;
    for (unsigned i = 0; i < 2000; i++) {
        double sum = make_series(series, keep, &state);
        struct noise noise = chance_sum(series, CELLS);
        mean += noise.variance / 2000;
        rejected += chance_student(sum / sqrt(noise.variance), noise.freedom) < 0.05;
    }
    double truth = CELLS / ((1 - keep) * (1 - keep));
    cr_expect(mean > low * truth && mean < high * truth, "%g: variance %g, true %g", keep, mean, truth);
    cr_expect(rejected < 0.08 * 2000, "%g: %g of 2000 beyond the bound", keep, rejected);
}

Test(noise, of_series_that_are_known)
{
    expect_noise(0, 0.9, 1.1);
    expect_noise(0.5, 0.85, 1.1);
    expect_noise(0.8, 0.8, 1.1);
}

/* The variance is what drawing blocks at random gives. */
Test(noise, is_that_of_a_bootstrap)
{
    uint64_t state = 3;
    double series[CELLS], squares = 0;
    make_series(series, 0.6, &state);
    size_t length = chance_block(series, CELLS), blocks = CELLS / length, draws = 20000;
    cr_assert(length > 2 && length < 40, "%zu", length);
    for (size_t d = 0; d < draws; d++) {
        double sum = 0;
        for (size_t b = 0; b < blocks; b++) {
            size_t from = hash_random(&state) % CELLS;
            for (size_t i = 0; i < length; i++)
                sum += series[(from + i) % CELLS];
        }
        squares += sum * sum / (double)draws;
    }
    double n = (double)CELLS / (double)length, drawn = squares / (double)blocks * n * n / (n - 1);
    double variance = chance_sum(series, CELLS).variance;
    cr_expect_float_eq(variance / drawn, 1, 0.05, "%g, drawn %g", variance, drawn);
}

/* One burst in 256 cells: its variance is as good as unknown. */
Test(noise, of_few_bursts_is_hardly_known)
{
    double series[CELLS];
    for (size_t i = 0; i < CELLS; i++)
        series[i] = (i == 40 ? 1 : 0) - 1.0 / CELLS;
    cr_expect_lt(chance_sum(series, CELLS).freedom, 4);
    for (size_t i = 0; i < CELLS; i++)
        series[i] = 0;
    cr_expect_eq(chance_sum(series, CELLS).variance, 0);
}

Test(student, agrees_with_its_tables)
{
    cr_expect_float_eq(chance_student(12.706, 1), 0.05, 1e-5);
    cr_expect_float_eq(chance_student(2.77645, 4), 0.05, 2e-6);
    cr_expect_float_eq(chance_student(-2.22814, 10), 0.05, 2e-6);
    cr_expect_float_eq(chance_student(3.291, 1e6), 0.001, 2e-6);
    cr_expect_eq(chance_student(0, 5), 1);
    cr_expect_eq(chance_student(INFINITY, 5), 0);
    cr_expect_float_eq(chance_student_bound(0.01, 7), 3.499, 1e-3);
    cr_expect_float_eq(chance_student_bound(0.05, 1e9), 1.95996, 1e-4);
    cr_expect_leq(chance_student_bound(0, 1), 1e9);
}

/* Variances of 4 degrees of freedom round 3 times what was expected: nearly all that is known is known from all. */
Test(prior, is_found_from_many_variances)
{
    uint64_t state = 1;
    double ratios[400];
    for (size_t i = 0; i < 400; i++) {
        double sum = 0;
        for (int n = 0; n < 4; n++) {
            double x = normal(&state);
            sum += x * x;
        }
        ratios[i] = 3 * sum / 4;
    }
    struct chance_prior prior = chance_prior(ratios, 400, 4);
    cr_expect_float_eq(prior.scale, 3, 0.3, "%g", prior.scale);
    cr_expect_gt(prior.freedom, 30);
    cr_expect_eq(chance_prior(ratios, CHANCE_PRIOR_LEAST - 1, 4).freedom, 0);
}

/* The example of Benjamini and Hochberg (1995), section 4: 4 of 15 at a rate of 0.05. */
Test(level, is_that_of_the_paper)
{
    double p[] = {0.3240, 0.0001, 0.0004, 0.0019, 0.4262, 0.0201, 0.0278, 0.0298,
                  0.0344, 0.0459, 0.0095, 0.5719, 0.6528, 0.7590, 1.0000};
    size_t called;
    cr_expect_float_eq(chance_level(p, 15, 0.05, &called), 0.05 * 4 / 15, 1e-12);
    cr_expect_eq(called, 4u);
    double none[] = {0.5, 0.04};
    cr_expect_float_eq(chance_level(none, 2, 0.05, &called), 0.025, 1e-12);
    cr_expect_eq(called, 0u);
}
