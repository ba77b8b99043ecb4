/*
 * chance.h - how much of a difference can be chance: the noise of sums over time, and which of many differences exceed it.
 *
 * Consecutive samples are alike, so a sum over time varies more than its number of samples suggests. Its variance is that of
 * the circular block bootstrap (Politis and Romano 1992), which reassembles the series from blocks of neighbours. With
 * infinitely many draws it is a sum over the blocks, which is computed directly. The length of the blocks comes from the
 * series' autocorrelation: Politis and White, "Automatic block-length selection for the dependent bootstrap", Econometric
 * Reviews 23 (2004), with the correction of Patton, Politis and White (2009).
 */
#ifndef FATHOM_PROFILE_CHANCE_H
#define FATHOM_PROFILE_CHANCE_H

#include <stddef.h>

struct noise {
    double variance; /* of the sum */
    double freedom;  /* degrees of freedom: how well the variance is known; 1 or more */
};

/* The number of cells in a block, 1 to count / 3, for a series whose mean is 0. */
size_t chance_block(const double *series, size_t count);
/* The noise of the sum of a series whose mean is 0. Its freedom also reflects how few of the blocks make up the variance (by
 * their fourth moment). count: 4 or more. */
struct noise chance_sum(const double *series, size_t count);

/*
 * Variances from few values each are better estimated together, by the ratio of each to the expected variance. Smyth, "Linear
 * models and empirical Bayes methods for assessing differential expression", Stat. Appl. Genet. Mol. Biol. 3 (2004), section
 * 6.2: they vary like a chi-squared variable with `freedom` degrees, around `scale` times the expected variance, which itself
 * varies as if it were estimated from chance_prior.freedom values.
 */
struct chance_prior {
    double scale, freedom; /* freedom: 0: nothing is known; at most 1e6 */
};
/* ratios: variances divided by the expected ones, all above 0. Fewer than CHANCE_PRIOR_LEAST give no information. */
#define CHANCE_PRIOR_LEAST 8
struct chance_prior chance_prior(const double *ratios, size_t count, double freedom);

/* The two-sided probability of Student's t. */
double chance_student(double t, double freedom);
/* The t with this two-sided probability, at most 1e9. */
double chance_student_bound(double probability, double freedom);

/* Benjamini and Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57 (1995): the largest probability to be
 * called a difference, so that at most `rate` of those called are expected to be chance; *called is their number. If there are
 * none, the result is what the smallest would have to reach. Intervals of this level (Benjamini and Yekutieli, "False discovery
 * rate-adjusted multiple confidence intervals", 2005) exclude 0 exactly where a difference is called. Sorts the probabilities. */
double chance_level(double *probabilities, size_t count, double rate, size_t *called);

#endif
