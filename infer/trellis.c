/* trellis.c - see trellis.h. Nothing is computed for sure columns that follow sure ones. */
#include "infer/trellis.h"

#include <stdlib.h>
#include <string.h>

#define ROOM (TRELLIS_RUN + 2) /* with the column before the run and the sure one after it */

struct trellis {
    struct trellis_work *work;
    struct column *columns;         /* ROOM of them, NULL before the first that waits */
    uint32_t count;                 /* that wait */
    bool begun;                     /* `last` is there */
    struct column last;             /* the last that was settled */
    double forward[CANDIDATES_MAX]; /* its probabilities by all before it */
};

struct trellis_work {
    struct coherence *model;
    bool count;
    double forward[ROOM][CANDIDATES_MAX], backward[ROOM][CANDIDATES_MAX];
    double steps[ROOM][CANDIDATES_MAX][CANDIDATES_MAX]; /* [t]: from column t - 1 to t */
};

struct trellis_work *trellis_work_new(struct coherence *model)
{
    struct trellis_work *w = malloc(sizeof *w);
    if (w) {
        w->model = model;
        w->count = false;
    }
    return w;
}

void trellis_work_free(struct trellis_work *w)
{
    free(w);
}

void trellis_work_count(struct trellis_work *w, bool count)
{
    w->count = count;
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

/* Scales to a sum of 1; all equal where it is 0. */
static void normalise(double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    for (uint32_t i = 0; i < count; i++)
        values[i] = sum > 0 ? values[i] / sum : 1.0 / count;
}

static void go_forward(struct trellis_work *w, const struct column *columns, uint32_t count)
{
    for (uint32_t t = 1; t < count; t++) {
        const struct column *from = &columns[t - 1], *to = &columns[t];
        double gaps = coherence_gaps(w->model, from->time, to->time);
        for (uint32_t j = 0; j < to->count; j++) {
            double sum = 0;
            for (uint32_t i = 0; i < from->count; i++) {
                double p = coherence_step(w->model, from->first + i, to->first + j, gaps);
                w->steps[t][i][j] = p;
                sum += w->forward[t - 1][i] * p;
            }
            w->forward[t][j] = sum;
        }
        normalise(w->forward[t], to->count);
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
                sum += w->steps[t + 1][i][j] * w->backward[t + 1][j];
            w->backward[t][i] = sum;
        }
        normalise(w->backward[t], columns[t].count);
    }
}

static int settle_column(struct trellis_work *w, const struct column *columns, uint32_t t, trellis_sink *sink,
                         void *context, struct fathom_error *err)
{
    double posterior[CANDIDATES_MAX];
    for (uint32_t i = 0; i < columns[t].count; i++)
        posterior[i] = w->forward[t][i] * w->backward[t][i];
    normalise(posterior, columns[t].count);
    for (uint32_t i = 0; w->count && columns[t].count > 1 && i < columns[t].count; i++)
        coherence_count_state(w->model, columns[t].first + i, posterior[i]);
    return sink ? sink(context, &columns[t], posterior, err) : 0;
}

/* Settles the first of the columns that wait (all of them are looked at). */
static int settle(struct trellis *t, uint32_t settled, trellis_sink *sink, void *context,
                  struct fathom_error *err)
{
    struct trellis_work *w = t->work;
    /* columns[0] is `last`; without one, the first that waits begins. */
    uint32_t skip = t->begun ? 0 : 1;
    struct column *columns = t->columns + skip;
    uint32_t count = t->count + 1 - skip, end = settled + 1 - skip;
    if (t->begun) {
        columns[0] = t->last;
        memcpy(w->forward[0], t->forward, sizeof t->forward);
    } else {
        for (uint32_t i = 0; i < columns[0].count; i++)
            w->forward[0][i] = coherence_share(w->model, columns[0].first + i);
        normalise(w->forward[0], columns[0].count);
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

int trellis_add(struct trellis *t, struct column column, trellis_sink *sink, void *context,
                struct fathom_error *err)
{
    if (column.count == 1 && t->count == 0) {
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
        return settle(t, t->count, sink, context, err);
    return t->count == TRELLIS_RUN ? settle(t, t->count - TRELLIS_LAG, sink, context, err) : 0;
}

int trellis_flush(struct trellis *t, trellis_sink *sink, void *context, struct fathom_error *err)
{
    return t->count ? settle(t, t->count, sink, context, err) : 0;
}
