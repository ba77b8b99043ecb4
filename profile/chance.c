/* chance.c - see chance.h. */
#include "profile/chance.h"

#include <math.h>

#include "base/sort.h"

/* Blocks ------------------------------------------------------------------------------------------------------- */

/*
 * The authors' length has the least mean square error of the variance, which is then too small: of 3000 series of 256 cells,
 * each of which keeps 0.3, 0.5, 0.8 or 0.9 of the one before, 7.8%, 7.9%, 9.6% and 11.9% exceeded a bound of 5%, and with twice
 * the length 6.1%, 6.0%, 6.3% and 6.9%. Of 64 cells, in which a correlation of 0.3 is not noticed: 12.1%, and 6.6% with the
 * minimum length, which costs few degrees of freedom.
 */
#define LENGTHEN 2.0
#define LEAST    3.0 /* cells, if the series has at least 16 times as many */

static double covariance(const double *series, size_t count, size_t lag)
{
    double sum = 0;
    for (size_t i = lag; i < count; i++)
        sum += series[i] * series[i - lag];
    return sum / (double)count;
}

/* The last lag before `quiet` consecutive ones whose correlation is no more than chance; at most `most`. */
static size_t last_correlated(const double *series, size_t count, size_t quiet, size_t most)
{
    double least = 2 * sqrt(log10((double)count) / (double)count) * covariance(series, count, 0);
    size_t last = 0;
    for (size_t lag = 1; lag < count && lag <= last + quiet && last < most; lag++)
        if (fabs(covariance(series, count, lag)) > least)
            last = lag;
    return last;
}

size_t chance_block(const double *series, size_t count)
{
    double n = (double)count;
    size_t quiet = (size_t)fmax(5, ceil(sqrt(log10(n)))), longest = (size_t)ceil(fmin(3 * sqrt(n), n / 3));
    size_t lags = 2 * last_correlated(series, count, quiet, (size_t)ceil(sqrt(n)) + quiet);
    double slope = 0, spectrum = covariance(series, count, 0);
    for (size_t k = 1; k <= lags && k < count; k++) {
        double x = (double)k / (double)lags, window = x <= 0.5 ? 1 : 2 * (1 - x); /* flat top */
        double r = covariance(series, count, k);
        slope += 2 * window * (double)k * r;
        spectrum += 2 * window * r;
    }
    double best = spectrum != 0 ? cbrt(1.5 * slope * slope / (spectrum * spectrum) * n) : (double)longest;
    double length = fmax(LENGTHEN * best, fmin(LEAST, n / 16));
    return length <= 1 ? 1 : length >= (double)longest ? longest : (size_t)ceil(length);
}

struct noise chance_sum(const double *series, size_t count)
{
    size_t length = chance_block(series, count);
    double block = 0, second = 0, fourth = 0, n = (double)count, blocks = n / (double)length;
    for (size_t i = 0; i < length; i++)
        block += series[i];
    size_t turns =
        0; /* blocks' sums that change sign: a series of two phases, which says next to nothing, has 2 */
    for (size_t i = 0; i < count; i++) {
        double before = block;
        second += block * block;
        fourth += block * block * block * block;
        block += series[(i + length) % count] - series[i];
        turns += (block > 0) != (before > 0);
    }
    second /= n;
    fourth /= n;
    if (second <= 0)
        return (struct noise){0, blocks};
    /* (blocks - 1): the blocks' own mean was subtracted. */
    double spread = fourth / (second * second) - 1;
    double freedom = spread > 0 ? 2 * blocks / spread : blocks;
    freedom = fmin(freedom, fmin(blocks, (double)turns / 2) - 1);
    return (struct noise){second * blocks * blocks / (blocks - 1), fmax(1, freedom)};
}

/* Variances of many -------------------------------------------------------------------------------------------------- */

/* The derivatives of the logarithm of gamma: recurrence up to 8, then the asymptotic series. https://dlmf.nist.gov/5.11.E2,
 * 5.15.E8 */
static double digamma(double x)
{
    double sum = 0;
    for (; x < 8; x++)
        sum -= 1 / x;
    double square = 1 / (x * x);
    return sum + log(x) - 0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

static double trigamma(double x)
{
    double sum = 0;
    for (; x < 8; x++)
        sum += 1 / (x * x);
    double square = 1 / (x * x);
    return sum + 1 / x + square / 2 + square / x * (1.0 / 6 - square * (1.0 / 30 - square / 42));
}

static double trigamma_inverse(double value)
{
    double low = 1e-6, high = 1e6; /* the function decreases */
    for (int i = 0; i < 80; i++) {
        double middle = sqrt(low * high);
        if (trigamma(middle) > value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct chance_prior chance_prior(const double *ratios, size_t count, double freedom)
{
    if (count < CHANCE_PRIOR_LEAST)
        return (struct chance_prior){1, 0};
    double mean = 0, squares = 0, n = (double)count;
    for (size_t i = 0; i < count; i++)
        mean += (log(ratios[i]) - digamma(freedom / 2) + log(freedom / 2)) / n;
    for (size_t i = 0; i < count; i++) {
        double far = log(ratios[i]) - digamma(freedom / 2) + log(freedom / 2) - mean;
        squares += far * far / (n - 1);
    }
    double rest = squares - trigamma(freedom / 2);
    if (rest <= trigamma(5e5)) /* they vary by no more than chance */
        return (struct chance_prior){exp(mean), 1e6};
    double half = trigamma_inverse(rest);
    return (struct chance_prior){exp(mean + digamma(half) - log(half)), 2 * half};
}

/* Student's t ---------------------------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function, by Lentz's method. https://dlmf.nist.gov/8.17.E22 */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 500; m++) {
        double before = value, terms[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                           -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        for (int i = 0; i < 2; i++) {
            d = 1 + terms[i] * d;
            c = 1 + terms[i] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            value *= c * d;
        }
        if (fabs(value - before) < 1e-14 * fabs(value))
            break;
    }
    return value;
}

/* From here on the normal distribution is used: Student's differs from it by about t^4 / (4 freedom) of itself. */
#define NORMAL_FREEDOM 1e8

double chance_student(double t, double freedom)
{
    if (freedom >= NORMAL_FREEDOM)
        return erfc(fabs(t) / M_SQRT2);
    double a = freedom / 2, b = 0.5, x = freedom / (freedom + t * t);
    if (!isfinite(t) || x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return fmin(1, front * beta_fraction(x, a, b) / a);
    return fmax(0, 1 - front * beta_fraction(1 - x, b, a) / b);
}

/* Newton's method on the logarithms of both, kept within bounds known to be too small and too large. */
double chance_student_bound(double probability, double freedom)
{
    double low = 1e-9, high = 1e9, t = 2;
    double front = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * M_PI) / 2;
    if (chance_student(high, freedom) >= probability)
        return high;
    for (int i = 0; i < 100; i++) {
        double found = chance_student(t, freedom),
               density = exp(front - (freedom + 1) / 2 * log1p(t * t / freedom));
        double off = found > 0 ? log(found / probability) : -1e3;
        if (fabs(off) < 1e-10)
            break;
        if (off > 0)
            low = t;
        else
            high = t;
        double next = found > 0 && density > 0 ? t * exp(off * found / (2 * t * density)) : 0;
        t = next > low && next < high ? next : sqrt(low * high);
    }
    return t;
}

/* Many differences ------------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return order_of(x, y);
}

double chance_level(double *probabilities, size_t count, double rate, size_t *called)
{
    sort_with(probabilities, count, compare_numbers);
    *called = 0;
    for (size_t i = count; i > 0 && !*called; i--)
        if (probabilities[i - 1] <= rate * (double)i / (double)count)
            *called = i;
    return count ? rate * (double)(*called ? *called : 1) / (double)count : rate;
}
