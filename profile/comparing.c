/* comparing.c - see comparing.h. */
#include "profile/comparing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/chance.h"

/* Cells of time: at least 10 ms, so that what a thread does between two switches is in one of few, and at least 4 samples on
 * average; more than 512 tell a variance no better than to 6%. */
enum { CELLS_LEAST = 4, CELLS_MOST = 512, CELL_NS = 10000000, CELL_SAMPLES = 4 };

/* Nodes from `first` up to `end`. */
struct range {
    uint32_t first, end;
};

struct sums {
    double weight, doubt;
};

/* What a row's change is judged by, kept until all are known. */
struct judged {
    struct change *change;
    struct noise noise;
    double sampling, doubt; /* sampling: the variance of independent samples */
};

struct work {
    struct comparing *c;
    size_t cells; /* 0: not one recording a side, with times */
    double *whole[2], *part[2], *series;
    struct sums *sums; /* by run */
    struct judged *judged;
    size_t judged_count, judged_room;
    struct range *ranges;
    size_t range_room;
};

/* Cells ---------------------------------------------------------------------------------------------------------- */

static size_t cell_of(const struct work *w, const struct compared_run *run, const struct compared_sample *s)
{
    double part = run->nanoseconds ? (double)s->time / (double)run->nanoseconds : 0;
    size_t cell = (size_t)(part * (double)w->cells);
    return cell < w->cells ? cell : w->cells - 1;
}

static size_t count_cells(const struct comparing *c)
{
    if (c->run_count != 2 || c->runs[0].exact || c->runs[1].exact)
        return 0;
    uint64_t most = CELLS_MOST;
    for (size_t i = 0; i < 2; i++) {
        uint64_t by_time = c->runs[i].nanoseconds / CELL_NS,
                 by_count = c->runs[i].sample_count / CELL_SAMPLES;
        most = by_time < most ? by_time : most;
        most = by_count < most ? by_count : most;
    }
    return most < CELLS_LEAST ? CELLS_LEAST : most;
}

static int start(struct work *w)
{
    struct comparing *c = w->c;
    w->cells = count_cells(c);
    w->sums = malloc(c->run_count * sizeof *w->sums);
    w->series = malloc((w->cells + 1) * sizeof *w->series);
    for (unsigned side = 0; side < 2; side++) {
        w->whole[side] = calloc(w->cells + 1, sizeof **w->whole);
        w->part[side] = calloc(w->cells + 1, sizeof **w->part);
    }
    if (!w->sums || !w->series || !w->whole[0] || !w->whole[1] || !w->part[0] || !w->part[1])
        return -ENOMEM;
    for (size_t i = 0; w->cells && i < 2; i++)
        for (size_t s = 0; s < c->runs[i].sample_count; s++)
            w->whole[c->runs[i].side][cell_of(w, &c->runs[i], &c->runs[i].samples[s])] +=
                c->runs[i].samples[s].weight;
    return 0;
}

static void finish(struct work *w)
{
    for (unsigned side = 0; side < 2; side++) {
        free(w->whole[side]);
        free(w->part[side]);
    }
    free(w->series);
    free(w->sums);
    free(w->judged);
    free(w->ranges);
}

/* One row -------------------------------------------------------------------------------------------------------- */

static void add_up(struct work *w, const struct range *ranges, size_t count)
{
    const struct comparing *c = w->c;
    for (unsigned side = 0; side < 2; side++)
        memset(w->part[side], 0, w->cells * sizeof **w->part);
    for (size_t i = 0; i < c->run_count; i++) {
        const struct compared_run *run = &c->runs[i];
        struct sums sums = {0};
        for (size_t r = 0; r < count; r++)
            for (size_t s = run->starts[ranges[r].first]; s < run->starts[ranges[r].end]; s++) {
                sums.weight += run->samples[s].weight;
                sums.doubt += run->samples[s].doubt;
                if (w->cells)
                    w->part[run->side][cell_of(w, run, &run->samples[s])] += run->samples[s].weight;
            }
        w->sums[i] = sums;
    }
}

static double value_of(const struct work *w, size_t run)
{
    return w->c->absolute ? w->sums[run].weight : w->sums[run].weight / w->c->runs[run].weight;
}

/* What independent samples vary by, if both sides have the same part of the weight. Two samples more are added to it, and
 * two to the rest: with few, it would be too sure (Agresti and Caffo, The American Statistician 54, 2000). */
static double sampling_variance(const struct work *w, const size_t counts[2])
{
    const struct comparing *c = w->c;
    double in = 2, all = 4, variance = 0;
    for (size_t i = 0; i < c->run_count; i++) {
        double samples = c->runs[i].weight * c->runs[i].weight / c->runs[i].squares; /* of one weight */
        in += w->sums[i].weight / c->runs[i].weight * samples;
        all += samples;
    }
    double part = in / all;
    for (size_t i = 0; i < c->run_count; i++) {
        const struct compared_run *run = &c->runs[i];
        double n = (double)counts[run->side],
               one = part * (1 - part) * run->squares / (run->weight * run->weight);
        if (c->absolute) /* a number of samples, of Poisson's law */
            one = part * run->squares;
        variance += run->exact ? 0 : one / (n * n);
    }
    return variance;
}

/* From run to run; `values` are the means. */
static struct noise between_runs(const struct work *w, const size_t counts[2], const double values[2])
{
    double squares = 0, freedom = (double)w->c->run_count - 2;
    for (size_t i = 0; i < w->c->run_count; i++) {
        double far = value_of(w, i) - values[w->c->runs[i].side];
        squares += far * far;
    }
    return (struct noise){squares / freedom * (1 / (double)counts[0] + 1 / (double)counts[1]), freedom};
}

/* Of the sum of what the cells of both sides differ by. */
static struct noise over_time(struct work *w, const double values[2])
{
    const struct comparing *c = w->c;
    for (size_t i = 0; i < w->cells; i++) {
        double deviations[2];
        for (size_t r = 0; r < 2; r++) {
            unsigned side = c->runs[r].side;
            deviations[side] =
                c->absolute ? w->part[side][i] - values[side] / (double)w->cells
                            : (w->part[side][i] - values[side] * w->whole[side][i]) / c->runs[r].weight;
        }
        w->series[i] = deviations[1] - deviations[0];
    }
    return chance_sum(w->series, w->cells);
}

/* Compares the samples of the nodes in some ranges. */
static bool compare_row(struct work *w, const struct range *ranges, size_t count, struct change *change)
{
    const struct comparing *c = w->c;
    double values[2] = {0}, doubts[2] = {0}, parts[2] = {0};
    size_t counts[2] = {0};
    add_up(w, ranges, count);
    for (size_t i = 0; i < c->run_count; i++)
        counts[c->runs[i].side]++;
    for (size_t i = 0; i < c->run_count; i++) {
        unsigned side = c->runs[i].side;
        double n = (double)counts[side], scale = c->absolute ? 1 : c->runs[i].weight;
        values[side] += value_of(w, i) / n;
        doubts[side] += w->sums[i].doubt / scale / n;
        parts[side] += w->sums[i].weight / c->runs[i].weight / n;
    }
    *change = (struct change){.a = values[0], .b = values[1], .probability = 1};
    double part = (parts[0] + parts[1]) / 2;
    if (part <= 0 || part < c->least || (part >= 1 && !c->absolute))
        return true;
    struct noise noise = {0, 1e9};
    if (c->run_count > 2)
        noise = between_runs(w, counts, values);
    else if (w->cells)
        noise = over_time(w, values);
    change->compared = true;
    return vec_push(w->judged, w->judged_count, w->judged_room,
                    (struct judged){change, noise, sampling_variance(w, counts), doubts[0] + doubts[1]});
}

/* All rows ------------------------------------------------------------------------------------------------------- */

/* A node that has just what its parent has is no other row. */
static bool is_same(const struct comparing *c, uint32_t node)
{
    uint32_t parent = c->nodes[node].parent;
    for (size_t i = 0; i < c->run_count; i++) {
        const size_t *starts = c->runs[i].starts;
        if (starts[parent] != starts[node] || starts[c->nodes[parent].end] != starts[c->nodes[node].end])
            return false;
    }
    return node != 0;
}

static bool compare_paths(struct work *w)
{
    struct comparing *c = w->c;
    for (uint32_t i = 0; i < c->node_count; i++)
        if (!is_same(c, i) && !compare_row(w, &(struct range){i, c->nodes[i].end}, 1, &c->paths[i]))
            return false;
    return true;
}

/* For each function its nodes, and the outermost of them with all below. */
static bool compare_functions(struct work *w)
{
    struct comparing *c = w->c;
    uint32_t *starts = calloc(c->items + 2, sizeof *starts),
             *nodes = malloc((c->node_count + 1) * sizeof *nodes);
    bool fine = starts && nodes;
    for (uint32_t i = 1; fine && i < c->node_count; i++)
        starts[c->nodes[i].item + 2]++;
    for (size_t i = 2; fine && i < c->items + 2; i++)
        starts[i] += starts[i - 1];
    for (uint32_t i = 1; fine && i < c->node_count; i++)
        nodes[starts[c->nodes[i].item + 1]++] = i;
    for (size_t item = 0; fine && item < c->items; item++) {
        size_t outermost = 0, count = starts[item + 1] - starts[item];
        fine = vec_reserve(w->ranges, 0, w->range_room, 2 * count);
        if (!fine || count == 0)
            continue;
        for (size_t n = 0; n < count; n++) {
            uint32_t node = nodes[starts[item] + n];
            w->ranges[n] = (struct range){node, node + 1};
            if (!outermost || w->ranges[count + outermost - 1].end <= node)
                w->ranges[count + outermost++] = (struct range){node, c->nodes[node].end};
        }
        fine = compare_row(w, w->ranges, count, &c->selves[item]) &&
               compare_row(w, w->ranges + count, outermost, &c->totals[item]);
    }
    free(starts);
    free(nodes);
    return fine;
}

/* Of few recordings, a row's own variance says little: what those of all rows are of their sampling variances says more. */
static void moderate(struct work *w, double *ratios)
{
    size_t count = 0;
    for (size_t i = 0; i < w->judged_count; i++)
        if (w->judged[i].noise.variance > 0 && w->judged[i].sampling > 0)
            ratios[count++] = w->judged[i].noise.variance / w->judged[i].sampling;
    double freedom = (double)w->c->run_count - 2;
    struct chance_prior prior = chance_prior(ratios, count, freedom);
    /* Rows are parts of one another, and a run that is unlike the others is so in many of them: what all say is taken for no more
     * than what one says. (Without this, one of three comparisons of two lua5.4 recordings with two called 15 rows.) */
    prior.freedom = fmin(prior.freedom, freedom);
    for (size_t i = 0; i < w->judged_count; i++) {
        struct judged *j = &w->judged[i];
        double expected = prior.freedom > 0 ? prior.scale * j->sampling : 0;
        j->noise.variance =
            (freedom * j->noise.variance + prior.freedom * expected) / (freedom + prior.freedom);
        j->noise.freedom = freedom + prior.freedom;
    }
}

static double deviation(const struct judged *j)
{
    return sqrt(fmax(j->noise.variance, j->sampling));
}

/* Which of all are more than chance. */
static int call(struct work *w)
{
    struct comparing *c = w->c;
    double *probabilities = malloc((w->judged_count + 1) * sizeof *probabilities);
    if (!probabilities)
        return -ENOMEM;
    if (c->run_count > 2)
        moderate(w, probabilities);
    for (size_t i = 0; i < w->judged_count; i++) {
        const struct judged *j = &w->judged[i];
        double far = fmax(0, fabs(j->change->b - j->change->a) - j->doubt);
        j->change->probability = far > 0 ? chance_student(far / deviation(j), j->noise.freedom) : 1;
        probabilities[i] = j->change->probability;
    }
    c->compared = w->judged_count;
    c->level = chance_level(probabilities, c->compared, DIFFERENCE_RATE, &c->called);
    free(probabilities);
    for (size_t i = 0; i < w->judged_count; i++) {
        const struct judged *j = &w->judged[i];
        j->change->bound = j->doubt;
        if (deviation(j) > 0)
            j->change->bound += deviation(j) * chance_student_bound(c->level, j->noise.freedom);
        j->change->called = c->called && j->change->probability <= c->level;
    }
    for (uint32_t i = 1; i < c->node_count; i++)
        if (is_same(c, i))
            c->paths[i] = c->paths[c->nodes[i].parent];
    return 0;
}

int comparing_run(struct comparing *c)
{
    struct work w = {.c = c};
    int rc = start(&w);
    if (rc == 0 && !(compare_paths(&w) && compare_functions(&w)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = call(&w);
    finish(&w);
    return rc;
}
