/* calibration.c - see calibration.h. */
#include "infer/model/calibration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "infer/model/wilson.h"

#define DROP      1.92 /* of the log likelihood: 95% */
#define STEPS     256u /* of stated probabilities that are distinguished */
#define SEARCH    60   /* bisection steps */
#define NEAR_ZERO 1e-9
#define FACTOR    1e-20 /* minimum factor: floats can hold the product */

/* From the programs of docs/benchmarks.md, "How far probabilities can be believed". */
static const struct prior {
    double stacks, mean;
} of_calls = {2, 0.8}, of_sole = {2, 0.97}, of_seen = {5, 1};

/* Answers with the same stated probability and number of unseen calls. */
struct group {
    double stated;
    uint32_t calls;
    double right, wrong; /* samples */
};

/* One rate to estimate. */
struct rate {
    struct prior prior;
    struct table *group_of; /* (stated probability in STEPS, calls) -> number of the group + 1 */
    struct table *of_path;  /* true path -> its number of samples */
    struct group *groups;
    size_t count, capacity;
    double weight; /* of a sample, in stacks */
    double value, least, most;
};

/* All answers, whatever they state: they bound the range from below. */
struct shares {
    struct table *of_stack; /* held-out stack -> its number of samples */
    double samples, right;
    double least, most; /* factors: of the share stated to be right, and of the rest */
};

struct calibration {
    struct rate calls, sole, seen;
    struct shares shares;
    struct trained trained;
    bool by_training; /* nothing of the run was compared */
};

static double weighted_log(double x, double stacks)
{
    return stacks * log(x > NEAR_ZERO ? x : NEAR_ZERO);
}

/* L in calibration.h. */
static double log_likelihood(const struct rate *rate, double value)
{
    const struct prior *prior = &rate->prior;
    double sum = weighted_log(value, prior->stacks * prior->mean) +
                 weighted_log(1 - value, prior->stacks * (1 - prior->mean));
    for (size_t i = 0; i < rate->count; i++) {
        const struct group *g = &rate->groups[i];
        sum += weighted_log(g->stated, rate->weight * g->right) +
               weighted_log(value, rate->weight * g->right * g->calls);
        sum += weighted_log(1 - g->stated * pow(value, g->calls), rate->weight * g->wrong);
    }
    return sum;
}

/* The most probable value. */
static double find_peak(const struct rate *rate)
{
    double low = 0, high = 1;
    for (int i = 0; i < SEARCH; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (log_likelihood(rate, a) < log_likelihood(rate, b))
            low = a;
        else
            high = b;
    }
    return high > 1 - NEAR_ZERO ? 1 : (low + high) / 2;
}

/* The bound of the value towards `end`. */
static double find_bound(const struct rate *rate, double end)
{
    double inside = rate->value, outside = end, least = log_likelihood(rate, rate->value) - DROP;
    for (int i = 0; i < SEARCH; i++) {
        double between = (inside + outside) / 2;
        if (log_likelihood(rate, between) < least)
            outside = between;
        else
            inside = between;
    }
    return inside;
}

static double samples_in(struct table *samples)
{
    double sum = 0;
    uint64_t key, count;
    for (size_t at = 0; table_next(samples, &at, &key, &count);)
        sum += (double)count;
    return sum;
}

/* Kish's effective sample size of groups of samples; 0: there are none. */
static double kish_size(struct table *samples)
{
    double sum = samples_in(samples), squares = 0;
    uint64_t key, count;
    for (size_t at = 0; table_next(samples, &at, &key, &count);)
        squares += (double)count * (double)count;
    return squares > 0 ? sum * sum / squares : 0;
}

static void estimate_rate(struct rate *rate)
{
    double samples = samples_in(rate->of_path);
    rate->weight = samples > 0 ? kish_size(rate->of_path) / samples : 0;
    rate->value = find_peak(rate);
    rate->least = find_bound(rate, 0);
    rate->most = find_bound(rate, 1);
}

static bool rate_init(struct rate *rate, struct prior prior)
{
    *rate = (struct rate){.prior = prior, .group_of = table_new(), .of_path = table_new()};
    if (!rate->group_of || !rate->of_path)
        return false;
    estimate_rate(rate);
    return true;
}

static void rate_clear(struct rate *rate)
{
    table_free(rate->group_of);
    table_free(rate->of_path);
    free(rate->groups);
}

static int rate_note(struct rate *rate, double stated, uint32_t calls, uint64_t path, bool right)
{
    uint32_t step = (uint32_t)(stated * STEPS + 0.5);
    uint64_t *samples = table_put(rate->of_path, path, NULL);
    const size_t number = table_index(rate->group_of, (uint64_t)calls << 32 | step, rate->groups, rate->count,
                                      rate->capacity, (struct group){(double)step / STEPS, calls, 0, 0});
    if (!samples || number == SIZE_MAX)
        return -ENOMEM;
    ++*samples;
    *(right ? &rate->groups[number].right : &rate->groups[number].wrong) += 1;
    return 0;
}

/* Wilson's interval of the share that is right, with the samples' effective number of stacks, as factors of the share. */
static void shares_estimate(struct shares *s)
{
    double n = kish_size(s->of_stack), p = s->samples > 0 ? s->right / s->samples : 0.5;
    struct wilson range = n > 0 ? wilson_of(p, n) : (struct wilson){0, 1};
    s->least = p > 0 ? range.least / p : 0;
    s->most = p < 1 ? (1 - range.most) / (1 - p) : 0;
}

struct calibration *calibration_new(void)
{
    struct calibration *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->shares.of_stack = table_new();
    return whole_or_free(c,
                         c->shares.of_stack && rate_init(&c->calls, of_calls) &&
                             rate_init(&c->sole, of_sole) && rate_init(&c->seen, of_seen),
                         calibration_free);
}

void calibration_free(struct calibration *c)
{
    if (!c)
        return;
    rate_clear(&c->calls);
    rate_clear(&c->sole);
    rate_clear(&c->seen);
    table_free(c->shares.of_stack);
    free(c);
}

/* The rate that scales an answer's probability, and the power it is raised to (*calls). NULL: none. */
static struct rate *rate_of(struct calibration *c, const struct resolved *resolved, uint32_t *calls)
{
    if (resolved->source != SOURCE_CID || resolved->kind == RESOLVED_UNKNOWN)
        return NULL;
    if (resolved->kind == RESOLVED_INFERRED) {
        *calls = *calls < PATHMAP_CALLS ? *calls : PATHMAP_CALLS;
        return resolved->paths > 1 || resolved->posterior_count > 1 ? &c->calls : &c->sole;
    }
    *calls = 1;
    return &c->seen;
}

int calibration_note(struct calibration *c, const struct resolved *resolved, uint32_t unseen,
                     const struct held_stack *stack, bool right)
{
    struct rate *rate = rate_of(c, resolved, &unseen);
    if (!rate)
        return 0;
    uint64_t *samples = table_put(c->shares.of_stack, stack->number, NULL);
    if (!samples)
        return -ENOMEM;
    ++*samples;
    c->shares.samples++;
    c->shares.right += right;
    return rate_note(rate, resolved->probability, unseen, stack->path, right);
}

size_t calibration_stacks(const struct calibration *c)
{
    return table_count(c->shares.of_stack);
}

void calibration_settle(struct calibration *c)
{
    estimate_rate(&c->calls);
    estimate_rate(&c->sole);
    estimate_rate(&c->seen);
    shares_estimate(&c->shares);
}

void calibration_train(struct calibration *c, const struct trained *trained)
{
    c->trained = *trained;
    c->by_training = true;
}

/* An answer's belief if it is known from the map's training alone: the factors for its calls and for seen frames. */
static struct belief belief_by_training(const struct trained *t, double stated, double factor, double call,
                                        double seen, bool known)
{
    double right = known ? t->seen : t->all;
    factor = fmax(factor * right, FACTOR);
    return (struct belief){factor, known ? fmin(t->least, stated * factor) : 0,
                           known ? fmax(t->most, stated * factor) : 1, call, seen * right};
}

struct belief calibration_belief(struct calibration *c, const struct resolved *resolved, uint32_t unseen)
{
    const struct rate *rate = rate_of(c, resolved, &unseen);
    double stated = resolved->probability;
    if (!rate)
        return (struct belief){1, stated, stated, 1, 1};
    double factor = fmax(pow(rate->value, unseen), FACTOR);
    double call = rate == &c->seen ? 1 : rate->value, seen = rate == &c->seen ? factor : 1;
    if (c->by_training)
        return belief_by_training(&c->trained, stated, factor, call, seen, rate == &c->seen);
    double least = stated * pow(rate->least, unseen), most = stated * pow(rate->most, unseen);
    return (struct belief){factor, fmin(least, stated * factor * c->shares.least),
                           fmax(most, 1 - (1 - stated * factor) * c->shares.most), call, seen};
}
