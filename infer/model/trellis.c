/* trellis.c - see trellis.h. Sure columns that follow sure ones need no computation. */
#include "infer/model/trellis.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (TRELLIS_RUN + 2) /* including the column before the run and the sure one after it */

struct trellis {
    struct trellis_work *work;
    struct column *columns;         /* ROOM of them; NULL before the first one waits */
    uint32_t count;                 /* of columns that wait */
    bool begun;                     /* `last` is set */
    struct column last;             /* the last settled column */
    double forward[CANDIDATES_MAX]; /* its probabilities given all columns before it */
};

struct trellis_work {
    struct coherence *model;
    double count;      /* weight of a settled column's states in the model; 0: they are not counted */
    bool judge;        /* compute `likelihood` */
    double likelihood; /* its logarithm */
    double sums[ROOM]; /* P(column t | all columns before it) */
    double forward[ROOM][CANDIDATES_MAX], backward[ROOM][CANDIDATES_MAX];
    /* [t]: from column t - 1 to t, one row for each state of the former */
    float steps[ROOM][CANDIDATES_MAX * CANDIDATES_MAX];
};

struct trellis_work *trellis_work_new(struct coherence *model)
{
    struct trellis_work *w = malloc(sizeof *w);
    if (w) {
        w->model = model;
        w->count = 0;
        w->judge = false;
    }
    return w;
}

void trellis_work_free(struct trellis_work *w)
{
    free(w);
}

void trellis_work_count(struct trellis_work *w, double weight)
{
    w->count = weight;
}

void trellis_work_judge(struct trellis_work *w)
{
    w->judge = true;
    w->likelihood = 0;
}

double trellis_work_judged(struct trellis_work *w)
{
    w->judge = false;
    return w->likelihood;
}

struct trellis *trellis_new(struct trellis_work *work)
{
    struct trellis *t = calloc(1, sizeof *t);
    if (t)
        t->work = work;
    return t;
}

void trellis_free(struct trellis *t)
{
    if (!t)
        return;
    free(t->columns);
    free(t);
}

/* Scales values to the sum 1; makes them equal if the sum is 0. */
static double normalise_values(double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    for (uint32_t i = 0; i < count; i++)
        values[i] = sum > 0 ? values[i] / sum : 1.0 / count;
    return sum;
}

/* Computes the steps between two columns, one row for each state of the first. */
static void find_steps(const struct trellis_work *w, const struct column *from, const struct column *to,
                       float *steps)
{
    uint32_t level = renewal_level(coherence_gaps(w->model, from->time, to->time));
    for (uint32_t i = 0; i < from->count; i++) {
        for (uint32_t j = 0; j < to->count; j++)
            steps[i * to->count + j] = (float)coherence_step(w->model, from->first + i, to->first + j, level);
    }
}

static void go_forward(struct trellis_work *w, const struct column *columns, uint32_t count)
{
    for (uint32_t t = 1; t < count; t++) {
        const struct column *from = &columns[t - 1], *to = &columns[t];
        find_steps(w, from, to, w->steps[t]);
        memset(w->forward[t], 0, sizeof *w->forward[t] * to->count);
        for (uint32_t i = 0; i < from->count; i++) {
            for (uint32_t j = 0; j < to->count; j++)
                w->forward[t][j] += w->forward[t - 1][i] * (double)w->steps[t][i * to->count + j];
        }
        w->sums[t] = normalise_values(w->forward[t], to->count);
    }
}

static void go_backward(struct trellis_work *w, const struct column *columns, uint32_t count)
{
    for (uint32_t i = 0; i < columns[count - 1].count; i++)
        w->backward[count - 1][i] = 1;
    for (uint32_t t = count - 1; t-- > 0;) {
        for (uint32_t i = 0; i < columns[t].count; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < columns[t + 1].count; j++)
                sum += (double)w->steps[t + 1][i * columns[t + 1].count + j] * w->backward[t + 1][j];
            w->backward[t][i] = sum;
        }
        normalise_values(w->backward[t], columns[t].count);
    }
}

static int settle_column(struct trellis_work *w, const struct column *columns, uint32_t t, trellis_sink *sink,
                         void *context, struct fathom_error *err)
{
    double posterior[CANDIDATES_MAX];
    for (uint32_t i = 0; i < columns[t].count; i++)
        posterior[i] = w->forward[t][i] * w->backward[t][i];
    normalise_values(posterior, columns[t].count);
    for (uint32_t i = 0; w->count > 0 && columns[t].count > 1 && i < columns[t].count; i++)
        coherence_count_state(w->model, columns[t].first + i, w->count * posterior[i]);
    if (w->judge && t)
        w->likelihood += log(w->sums[t] + DBL_MIN);
    return sink ? sink(context, &columns[t], posterior, err) : 0;
}

/* Settles the first waiting columns, considering all of them. */
static int settle_columns(struct trellis *t, uint32_t settled, trellis_sink *sink, void *context,
                          struct fathom_error *err)
{
    struct trellis_work *w = t->work;
    /* columns[0] is `last`; without it, the first waiting column begins. */
    uint32_t skip = t->begun ? 0 : 1;
    struct column *columns = t->columns + skip;
    uint32_t count = t->count + 1 - skip, end = settled + 1 - skip;
    if (t->begun) {
        columns[0] = t->last;
        memcpy(w->forward[0], t->forward, sizeof t->forward);
    } else {
        for (uint32_t i = 0; i < columns[0].count; i++)
            w->forward[0][i] = coherence_share(w->model, columns[0].first + i);
        normalise_values(w->forward[0], columns[0].count);
    }
    go_forward(w, columns, count);
    go_backward(w, columns, count);
    int rc = 0;
    for (uint32_t i = t->begun; rc == 0 && i < end; i++)
        rc = settle_column(w, columns, i, sink, context, err);
    t->last = columns[end - 1];
    memcpy(t->forward, w->forward[end - 1], sizeof t->forward);
    t->begun = true;
    t->count -= settled;
    memmove(t->columns + 1, t->columns + 1 + settled, t->count * sizeof *t->columns);
    return rc;
}

/* Adds the likelihood of a sure column after the settled one. */
static void judge_step(struct trellis *t, const struct column *column)
{
    double sum = 0;
    find_steps(t->work, &t->last, column, t->work->steps[0]);
    for (uint32_t i = 0; i < t->last.count; i++)
        sum += t->forward[i] * (double)t->work->steps[0][i];
    t->work->likelihood += log(sum + DBL_MIN);
}

int trellis_add(struct trellis *t, struct column column, trellis_sink *sink, void *context,
                struct fathom_error *err)
{
    if (column.count == 1 && t->count == 0) {
        if (t->work->judge && t->begun)
            judge_step(t, &column);
        t->last = column;
        t->forward[0] = 1;
        t->begun = true;
        return sink ? sink(context, &column, &(double){1}, err) : 0;
    }
    if (!t->columns) {
        t->columns = malloc(ROOM * sizeof *t->columns);
        if (!t->columns)
            return error_memory(err);
    }
    t->columns[1 + t->count++] = column;
    if (column.count == 1)
        return settle_columns(t, t->count, sink, context, err);
    return t->count == TRELLIS_RUN ? settle_columns(t, t->count - TRELLIS_LAG, sink, context, err) : 0;
}

int trellis_flush(struct trellis *t, trellis_sink *sink, void *context, struct fathom_error *err)
{
    return t->count ? settle_columns(t, t->count, sink, context, err) : 0;
}
