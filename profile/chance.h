/*
 * chance.h - what chance can do to a difference: the noise of sums over time, and which of many differences are more than it.
 *
 * Samples in a row are alike, so a sum over time varies more than its number of samples says. Its variance is that of the
 * circular block bootstrap (Politis and Romano 1992), which puts the series together anew from blocks of neighbours: with
 * endless draws it is a sum over the blocks, which is what is computed, without a draw. The length of the blocks comes
 * from the series' autocorrelation: Politis and White, "Automatic block-length selection for the dependent bootstrap",
 * Econometric Reviews 23 (2004), with the correction of Patton, Politis and White (2009).
 */
#ifndef FATHOM_PROFILE_CHANCE_H
#define FATHOM_PROFILE_CHANCE_H

#include <stddef.h>

struct noise {
    double variance; /* of the sum */
    double freedom;  /* degrees of freedom: how well the variance is known; 1 or more */
};

/* Cells in a block, 1 to count / 3, for a series whose mean is 0. */
size_t chance_block(const double *series, size_t count);
/* The noise of the sum of a series whose mean is 0. Its freedom also tells how few of the blocks make up the variance
 * (by their fourth moment). count: 4 or more. */
struct noise chance_sum(const double *series, size_t count);

/*
 * Variances from few values each are better known if all of them are looked at: what each is of the variance that is
 * expected. Smyth, "Linear models and empirical Bayes methods for assessing differential expression", Stat. Appl. Genet. Mol.
 * Biol. 3 (2004), section 6.2: they vary as a chi-squared variable of `freedom`, round `scale` times the expected one, which
 * itself varies as if it were known from chance_prior.freedom values.
 */
struct chance_prior {
    double scale, freedom; /* freedom: 0, nothing is known; at most 1e6 */
};
/* ratios: variances as parts of those expected, all above 0. Fewer than CHANCE_PRIOR_LEAST tell nothing. */
#define CHANCE_PRIOR_LEAST 8
struct chance_prior chance_prior(const double *ratios, size_t count, double freedom);

/* The probability that Student's t is at least as far from 0. */
double chance_student(double t, double freedom);
/* The t that has this probability, at most 1e9. */
double chance_student_bound(double probability, double freedom);

/* Benjamini and Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57 (1995): with `rate` of those called at
 * most being chance, the probabilities up to the result are called; *called is their number. If there are none, the result
 * is what the smallest would have to reach. Intervals of this level (Benjamini and Yekutieli, "False discovery
 * rate-adjusted multiple confidence intervals", 2005) leave out 0 just where a difference is called. Sorts the
 * probabilities. */
double chance_level(double *probabilities, size_t count, double rate, size_t *called);

#endif
