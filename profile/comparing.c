/* comparing.c - see comparing.h. */
#include "profile/comparing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/chance.h"

/* Cells of time: of at least 10 ms, so that what a thread does between two switches is in one or few of them, and with at least
 * 4 samples on average, unless there are fewer than CELLS_LEAST of these. 512 determine a variance to 6%, which is enough: each
 * costs memory and time. */
enum { CELLS_LEAST = 4, CELLS_MOST = 512, CELL_NS = 10000000, CELL_SAMPLES = 4 };

/* Samples between two places at which sums of the cells are stored. */
enum { MARK = 2048 };

#define SURE        1e9  /* degrees of freedom of a known variance */
#define RECOMMENDED 3.0  /* recordings per side: fewer hardly show how runs vary */
#define MUCH        1000 /* recordings, or times as long: nobody makes more */

/* Nodes from `first` to `end`, exclusive. */
struct range {
    uint32_t first, end;
};

struct sums {
    double weight, doubt;
};

/* How a row's change is judged, stored until all rows are known. */
struct judged {
    struct change *change;
    struct noise noise;
    double sampling, doubt; /* sampling: the variance of independent samples */
    /* part of a change of weight that may come from the whole run being longer or shorter by chance */
    double scale;
};

/* A comparison while its changes are judged. */
struct judging {
    struct comparing *c;
    size_t cells;     /* 0 unless there is one recording per side, with times */
    double counts[2]; /* recordings per side */
    double between;   /* the variance of a change divided by that of one recording: the sum of 1 / counts */
    double *whole[2], *part[2], *series;
    struct sums *sums; /* by run */
    /* with cells: by run, then node: sums of the nodes before it (such recordings have many samples) */
    struct sums *before[2];
    double *marks[2]; /* with cells: by run, for each MARKth sample: the cells of all before it */
    struct judged *judged;
    size_t judged_count, judged_capacity;
    struct range *ranges;
    size_t range_capacity;
};

/* Cells ---------------------------------------------------------------------------------------------------------- */

static size_t cell_of(const struct judging *w, const struct compared_run *run,
                      const struct compared_sample *s)
{
    double part = run->nanoseconds ? (double)s->time / (double)run->nanoseconds : 0;
    size_t cell = (size_t)(part * (double)w->cells);
    return cell < w->cells ? cell : w->cells - 1;
}

static void add_cells(const struct judging *w, size_t i, size_t from, size_t to, double *part)
{
    const struct compared_run *run = &w->c->runs[i];
    for (size_t s = from; s < to; s++)
        part[cell_of(w, run, &run->samples[s])] += run->samples[s].weight;
}

static bool mark_cells(struct judging *w, size_t i)
{
    const size_t marks = w->c->runs[i].sample_count / MARK + 1;
    double *at = w->marks[i] = calloc(marks * w->cells, sizeof *at);
    for (size_t m = 1; at && m < marks; m++, at += w->cells) {
        memcpy(at + w->cells, at, w->cells * sizeof *at);
        add_cells(w, i, (m - 1) * MARK, m * MARK, at + w->cells);
    }
    return at != NULL;
}

static void add_range(const struct judging *w, size_t i, size_t from, size_t to, double *part)
{
    const size_t first = from / MARK + 1, last = to / MARK;
    if (first >= last) {
        add_cells(w, i, from, to, part);
        return;
    }
    const double *lower = w->marks[i] + first * w->cells, *upper = w->marks[i] + last * w->cells;
    for (size_t cell = 0; cell < w->cells; cell++)
        part[cell] += upper[cell] - lower[cell];
    add_cells(w, i, from, first * MARK, part);
    add_cells(w, i, last * MARK, to, part);
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
        /* so that no cell is empty merely for lack of distinct times */
        most = c->runs[i].times < most ? c->runs[i].times : most;
    }
    return most < CELLS_LEAST ? CELLS_LEAST : most;
}

/* The sums of the samples from one place to another. */
static struct sums sums_of(const struct compared_run *run, size_t from, size_t to)
{
    struct sums sums = {0};
    for (size_t s = from; s < to; s++) {
        sums.weight += run->samples[s].weight;
        sums.doubt += run->samples[s].doubt;
    }
    return sums;
}

static bool sum_before(struct judging *w, size_t i)
{
    const struct compared_run *run = &w->c->runs[i];
    struct sums *before = w->before[i] = malloc((w->c->node_count + 1) * sizeof *before);
    if (!before)
        return false;
    before[0] = sums_of(run, 0, run->starts[0]);
    for (size_t node = 0; node < w->c->node_count; node++) {
        struct sums own = sums_of(run, run->starts[node], run->starts[node + 1]);
        before[node + 1] = (struct sums){before[node].weight + own.weight, before[node].doubt + own.doubt};
    }
    return true;
}

static int start_comparing(struct judging *w)
{
    struct comparing *c = w->c;
    w->cells = count_cells(c);
    for (size_t i = 0; i < c->run_count; i++)
        w->counts[c->runs[i].side]++;
    w->between = 1 / w->counts[0] + 1 / w->counts[1];
    w->sums = malloc(c->run_count * sizeof *w->sums);
    w->series = malloc((w->cells + 1) * sizeof *w->series);
    for (unsigned side = 0; side < 2; side++) {
        w->whole[side] = calloc(w->cells + 1, sizeof **w->whole);
        w->part[side] = calloc(w->cells + 1, sizeof **w->part);
    }
    if (!w->sums || !w->series || !w->whole[0] || !w->whole[1] || !w->part[0] || !w->part[1])
        return -ENOMEM;
    for (size_t i = 0; w->cells && i < 2; i++) {
        if (!sum_before(w, i) || !mark_cells(w, i))
            return -ENOMEM;
        add_range(w, i, 0, c->runs[i].sample_count, w->whole[c->runs[i].side]);
    }
    return 0;
}

static void free_work(struct judging *w)
{
    for (unsigned side = 0; side < 2; side++) {
        free(w->whole[side]);
        free(w->part[side]);
        free(w->before[side]);
        free(w->marks[side]);
    }
    free(w->series);
    free(w->sums);
    free(w->judged);
    free(w->ranges);
}

/* One row -------------------------------------------------------------------------------------------------------- */

static void add_up(struct judging *w, const struct range *ranges, size_t count)
{
    const struct comparing *c = w->c;
    for (size_t i = 0; i < c->run_count; i++) {
        const struct compared_run *run = &c->runs[i];
        struct sums sums = {0};
        for (size_t r = 0; r < count; r++) {
            const struct sums *before = w->cells ? w->before[i] : NULL;
            const struct range *range = &ranges[r];
            struct sums more = !before
                                   ? sums_of(run, run->starts[range->first], run->starts[range->end])
                                   : (struct sums){before[range->end].weight - before[range->first].weight,
                                                   before[range->end].doubt - before[range->first].doubt};
            sums.weight += more.weight;
            sums.doubt += more.doubt;
        }
        w->sums[i] = sums;
    }
}

static void fill_cells(struct judging *w, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < 2; i++) {
        const struct compared_run *run = &w->c->runs[i];
        double *part = w->part[run->side];
        memset(part, 0, w->cells * sizeof *part);
        for (size_t r = 0; r < count; r++)
            add_range(w, i, run->starts[ranges[r].first], run->starts[ranges[r].end], part);
    }
}

static double value_of(const struct judging *w, size_t run)
{
    return w->c->absolute ? w->sums[run].weight : w->sums[run].weight / w->c->runs[run].weight;
}

/* The variance of independent samples if both sides have the same share of the weight. Two more samples are added to it, and
 * two to the rest: it would be too small with few (Agresti and Caffo, The American Statistician 54, 2000). */
static double sampling_variance(const struct judging *w)
{
    const struct comparing *c = w->c;
    double in = 2, all = 4, variance = 0;
    for (size_t i = 0; i < c->run_count; i++) {
        /* effective number, of equal weights */
        double samples = c->runs[i].weight * c->runs[i].weight / c->runs[i].squares;
        in += w->sums[i].weight / c->runs[i].weight * samples;
        all += samples;
    }
    double part = in / all;
    for (size_t i = 0; i < c->run_count; i++) {
        const struct compared_run *run = &c->runs[i];
        double n = w->counts[run->side], one = part * (1 - part) * run->squares / (run->weight * run->weight);
        if (c->absolute) /* a Poisson-distributed number of samples */
            one = part * run->squares;
        variance += run->exact ? 0 : one / (n * n);
    }
    return variance;
}

/* Noise from run to run; `values` are the means. */
static struct noise between_runs(const struct judging *w, const double values[2])
{
    double squares = 0, freedom = (double)w->c->run_count - 2;
    for (size_t i = 0; i < w->c->run_count; i++) {
        double far = value_of(w, i) - values[w->c->runs[i].side];
        squares += far * far;
    }
    return (struct noise){squares / freedom * w->between, freedom};
}

/* Noise of the sum of differences between the cells of both sides. */
static struct noise over_time(struct judging *w, const double values[2])
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

/* One recording per side does not show how much a run's weight varies: the share of such a variation that each row has. */
static double scale_of(const struct judging *w, const struct change *change)
{
    double whole = w->c->whole.b - w->c->whole.a;
    if (!w->cells || !w->c->absolute)
        return 0;
    return change == &w->c->whole                   ? fabs(change->b - change->a)
           : (whole > 0) == (change->b > change->a) ? fabs(whole)
                                                    : 0;
}

/* Compares the samples of the nodes in some ranges. */
static bool compare_row(struct judging *w, const struct range *ranges, size_t count, struct change *change)
{
    const struct comparing *c = w->c;
    double values[2] = {0}, doubts[2] = {0}, parts[2] = {0};
    add_up(w, ranges, count);
    for (size_t i = 0; i < c->run_count; i++) {
        unsigned side = c->runs[i].side;
        double n = w->counts[side], scale = c->absolute ? 1 : c->runs[i].weight;
        values[side] += value_of(w, i) / n;
        doubts[side] += w->sums[i].doubt / scale / n;
        parts[side] += w->sums[i].weight / c->runs[i].weight / n;
    }
    *change = (struct change){.a = values[0], .b = values[1], .probability = 1};
    double part = (parts[0] + parts[1]) / 2;
    if (part <= 0 || part < c->least || (part >= 1 && !c->absolute))
        return true;
    struct noise noise = {0, SURE};
    if (c->run_count > 2) {
        noise = between_runs(w, values);
    } else if (w->cells) {
        fill_cells(w, ranges, count);
        noise = over_time(w, values);
    }
    change->compared = true;
    return vec_push(w->judged, w->judged_count, w->judged_capacity,
                    (struct judged){change, noise, sampling_variance(w), doubts[0] + doubts[1],
                                    part * scale_of(w, change)});
}

/* All rows ------------------------------------------------------------------------------------------------------- */

/* A node with exactly its parent's samples is not a row of its own. */
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

static bool compare_paths(struct judging *w)
{
    struct comparing *c = w->c;
    for (uint32_t i = 0; i < c->node_count; i++)
        if (!is_same(c, i) && !compare_row(w, &(struct range){i, c->nodes[i].end}, 1, &c->paths[i]))
            return false;
    return true;
}

/* Compares, for each function, its own nodes, and the outermost of them with everything below. */
static bool compare_functions(struct judging *w)
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
        fine = vec_reserve(w->ranges, 0, w->range_capacity, 2 * count);
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

/* With few recordings, a row's own variance says little: the ratios of all rows' variances to their sampling variances say
 * more. */
static void moderate_variances(struct judging *w, double *ratios)
{
    size_t count = 0;
    for (size_t i = 0; i < w->judged_count; i++)
        if (w->judged[i].noise.variance > 0 && w->judged[i].sampling > 0)
            ratios[count++] = w->judged[i].noise.variance / w->judged[i].sampling;
    double freedom = (double)w->c->run_count - 2;
    struct chance_prior prior = chance_prior(ratios, count, freedom);
    /* Rows contain one another, and an unusual run is unusual in many of them: all together count as no more evidence than one.
     * (Without this, one of three comparisons of two lua5.4 recordings with two called 15 rows.) */
    prior.freedom = fmin(prior.freedom, freedom);
    for (size_t i = 0; i < w->judged_count; i++) {
        struct judged *j = &w->judged[i];
        double expected = prior.freedom > 0 ? prior.scale * j->sampling : 0;
        j->noise.variance =
            (freedom * j->noise.variance + prior.freedom * expected) / (freedom + prior.freedom);
        j->noise.freedom = freedom + prior.freedom;
    }
}

/* The size of the change, without what is uncertain. */
static double size_of_change(const struct judged *j)
{
    return fmax(0, fabs(j->change->b - j->change->a) - j->doubt);
}

/* The same, without what may affect the whole run. */
static double size_of_own_change(const struct judged *j)
{
    return fmax(0, size_of_change(j) - j->scale);
}

static double sampling_probability_of(const struct judged *j)
{
    double far = fabs(j->change->b - j->change->a);
    return far > 0 ? chance_student(far / sqrt(j->sampling), SURE) : 1;
}

/* Both kinds of chance must be exceeded: the noise found may be less than that of sampling alone. */
static double probability_of(const struct judged *j)
{
    double far = size_of_own_change(j);
    return far > 0 ? fmax(chance_student(far / sqrt(j->noise.variance), j->noise.freedom),
                          chance_student(far / sqrt(j->sampling), SURE))
                   : 1;
}

static double bound_of(const struct judged *j, double level, double times, double freedom)
{
    double noise =
        j->noise.variance > 0 ? sqrt(j->noise.variance * times) * chance_student_bound(level, freedom) : 0;
    return fmax(noise, sqrt(j->sampling * times) * chance_student_bound(level, SURE));
}

/* Whether `n` recordings per side, with as much change from run to run as the noise found, would call the change; or one per
 * side that is n times as long. */
static bool would_call(const struct judging *w, const struct judged *j, double level, double n, bool longer)
{
    double freedom = longer ? j->noise.freedom * n : 2 * n - 2;
    return bound_of(j, level, 2 / w->between / n, freedom) <
           (longer ? size_of_own_change(j) : size_of_change(j));
}

/* The least such n up to MUCH; INFINITY: none. */
static double least_that_calls(const struct judging *w, const struct judged *j, double level, bool longer)
{
    double low = longer ? 1 : RECOMMENDED - 1, high = MUCH; /* invariant: low does not suffice, high does */
    if (!would_call(w, j, level, high, longer))
        return INFINITY;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (would_call(w, j, level, middle, longer))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void judge_change(const struct judging *w, const struct judged *j, double level, bool called,
                         bool by_sampling)
{
    struct change *change = j->change;
    change->bound = j->doubt + j->scale + bound_of(j, level, 1, j->noise.freedom);
    change->sampling = sqrt(j->sampling) * chance_student_bound(level, SURE);
    change->called = called;
    change->unclear = by_sampling && !called;
    if (!change->unclear)
        return;
    change->recordings = least_that_calls(w, j, level, false);
    change->longer = w->cells ? least_that_calls(w, j, level, true) : INFINITY;
}

/* Determines which changes are more than chance. */
static int call_changes(struct judging *w)
{
    struct comparing *c = w->c;
    double *probabilities = malloc((w->judged_count + 1) * sizeof *probabilities);
    if (!probabilities)
        return -ENOMEM;
    if (c->run_count > 2)
        moderate_variances(w, probabilities);
    for (size_t i = 0; i < w->judged_count; i++)
        probabilities[i] = w->judged[i].change->probability = probability_of(&w->judged[i]);
    c->compared = w->judged_count;
    c->level = chance_level(probabilities, c->compared, DIFFERENCE_RATE, &c->called);
    for (size_t i = 0; i < w->judged_count; i++)
        probabilities[i] = sampling_probability_of(&w->judged[i]);
    size_t by_sampling;
    double sampling_level = chance_level(probabilities, c->compared, DIFFERENCE_RATE, &by_sampling);
    free(probabilities);
    for (size_t i = 0; i < w->judged_count; i++) {
        const struct judged *j = &w->judged[i];
        judge_change(w, j, c->level, c->called && j->change->probability <= c->level,
                     by_sampling && sampling_probability_of(j) <= sampling_level);
        c->unclear += j->change->unclear;
    }
    for (uint32_t i = 1; i < c->node_count; i++)
        if (is_same(c, i))
            c->paths[i] = c->paths[c->nodes[i].parent];
    return 0;
}

/* Compares the weights of the sides, before the rows. */
static bool compare_whole(struct judging *w)
{
    struct comparing *c = w->c;
    bool absolute = c->absolute;
    c->absolute = true;
    bool fine = compare_row(w, &(struct range){0, (uint32_t)c->node_count}, 1, &c->whole);
    c->absolute = absolute;
    if (!fine || w->judged_count == 0)
        return fine;
    const struct judged *j = &w->judged[--w->judged_count];
    c->whole.probability = probability_of(j);
    judge_change(w, j, DIFFERENCE_RATE, c->whole.probability <= DIFFERENCE_RATE,
                 sampling_probability_of(j) <= DIFFERENCE_RATE);
    return true;
}

int comparing_run(struct comparing *c)
{
    struct judging w = {.c = c};
    int rc = start_comparing(&w);
    if (rc == 0 && !(compare_whole(&w) && compare_paths(&w) && compare_functions(&w)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = call_changes(&w);
    free_work(&w);
    return rc;
}
