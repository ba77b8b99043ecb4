/* tracker.c - see tracker.h. */
#include "phases/tracker.h"

#include <errno.h>
#include <stdlib.h>

struct phase_tracker {
    struct phase_options options;
    struct phase_table *table;
    struct phase_predictor *predictor;
    struct phase_vector vectors[2]; /* of the present interval, and of the last one */
    unsigned filled;                /* index of the present one */
    uint64_t from, last;            /* ns: times of the present interval's first and last samples */
    uint32_t predicted;
};

struct phase_tracker *phase_tracker_new(const struct phase_options *options)
{
    struct phase_tracker *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->options = *options;
    t->table = phase_table_new(options->threshold, options->capacity);
    t->predictor = phase_predictor_new();
    if (t->table && t->predictor)
        return t;
    phase_tracker_free(t);
    return NULL;
}

void phase_tracker_free(struct phase_tracker *t)
{
    if (!t)
        return;
    phase_table_free(t->table);
    phase_predictor_free(t->predictor);
    free(t);
}

static int end_interval(struct phase_tracker *t, uint64_t to, struct phase_interval *ended)
{
    const struct phase_vector *v = &t->vectors[t->filled];
    uint32_t phase = phase_table_put(t->table, v);
    uint32_t next = phase ? phase_predictor_take(t->predictor, phase) : 0;
    if (!next)
        return -ENOMEM;
    *ended = (struct phase_interval){t->from, to, v->weight, v->samples, phase, t->predicted};
    t->predicted = next;
    t->filled = !t->filled;
    t->vectors[t->filled] = (struct phase_vector){0};
    return 1;
}

int phase_tracker_add(struct phase_tracker *t, const struct phase_sample *s, struct phase_interval *ended)
{
    struct phase_vector *v = &t->vectors[t->filled];
    int rc = 0;
    if (v->weight >= t->options.interval && v->samples > 0 && s->time > t->last)
        rc = end_interval(t, s->time, ended);
    v = &t->vectors[t->filled];
    if (rc < 0)
        return rc;
    if (v->samples == 0)
        t->from = s->time;
    t->last = s->time;
    phase_vector_add(v, s->items, s->count, s->weight);
    return rc;
}

int phase_tracker_end(struct phase_tracker *t, struct phase_interval *ended)
{
    return t->vectors[t->filled].samples > 0 ? end_interval(t, t->last + 1, ended) : 0;
}

uint32_t phase_tracker_predicted(const struct phase_tracker *t)
{
    return t->predicted;
}

const struct phase_vector *phase_tracker_vector(const struct phase_tracker *t)
{
    return &t->vectors[!t->filled];
}
