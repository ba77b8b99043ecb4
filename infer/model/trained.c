/* trained.c - see trained.h. */
#include "infer/model/trained.h"

#include "infer/model/wilson.h"

/* The 97.5% quantile of Student's t, by degrees of freedom; beyond the table within 0.02. */
static double student_quantile(uint32_t freedom)
{
    static const double first[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
    const uint32_t known = sizeof first / sizeof *first;
    return freedom <= known ? first[freedom - 1] : WILSON_Z + 2.6 / freedom;
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double seen_in(const struct trial *t)
{
    return share_of(t->right, t->known);
}

static double possible_in(const struct trial *t)
{
    return t->known ? share_of(t->known - t->wrong, t->known) : 1;
}

/* By how much a trial's stated probabilities have to be scaled. */
static double scale_in(const struct trial *t)
{
    return fmin(share_of(t->right, t->said), 1);
}

static double right_in(const struct trial *t)
{
    return share_of(t->right, t->samples);
}

static double unseen_in(const struct trial *t)
{
    return share_of(t->samples - t->known, t->samples);
}

typedef double share_in(const struct trial *trial);

static double mean_of(share_in *in, const struct trial *trials, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += in(&trials[i]);
    return sum / count;
}

static double lowest_of(share_in *in, const struct trial *trials, uint32_t count)
{
    double lowest = 1;
    for (uint32_t i = 0; i < count; i++)
        lowest = fmin(lowest, in(&trials[i]));
    return lowest;
}

/* The prediction interval for one more trial's share. */
static struct wilson predict_next(share_in *in, const struct trial *trials, uint32_t count)
{
    double mean = mean_of(in, trials, count), squares = 0;
    for (uint32_t i = 0; i < count; i++)
        squares += (in(&trials[i]) - mean) * (in(&trials[i]) - mean);
    struct wilson range = wilson_of(mean, count);
    double half =
        count > 1 ? student_quantile(count - 1) * sqrt(squares / (count - 1) * (1 + 1.0 / count)) : 1;
    return (struct wilson){fmax(fmin(range.least, mean - half), 0), fmin(fmax(range.most, mean + half), 1)};
}

struct trained trained_of_trials(const struct trial *trials, uint32_t count)
{
    bool slices = false;
    if (count == 0)
        return (struct trained){TRAINED_BY_NOTHING, 0, 0.5, 0, 1, 0.5, 1, 1};
    for (uint32_t i = 0; i < count; i++)
        slices |= trials[i].part == TRIAL_SLICE;
    if (slices)
        return (struct trained){TRAINED_BY_SLICES,
                                count,
                                lowest_of(scale_in, trials, count),
                                0,
                                1,
                                lowest_of(right_in, trials, count),
                                mean_of(unseen_in, trials, count),
                                1};
    return (struct trained){TRAINED_BY_INPUTS,
                            count,
                            mean_of(scale_in, trials, count),
                            predict_next(seen_in, trials, count).least,
                            predict_next(possible_in, trials, count).most,
                            mean_of(right_in, trials, count),
                            mean_of(unseen_in, trials, count),
                            predict_next(unseen_in, trials, count).most};
}

struct trained trained_of(const struct pathmap *map)
{
    const struct trial *trials;
    uint32_t count = pathmap_trials(map, &trials);
    return trained_of_trials(trials, count);
}
