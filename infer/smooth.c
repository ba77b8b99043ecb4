/*
 * smooth.c - forward-backward over the candidates of ambiguous samples; see smooth.h.
 *
 * Nothing is computed for sure samples but their place as an anchor, so a recording without ambiguity passes
 * through at full speed.
 */
#include "infer/smooth.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "infer/lineage.h"

#define GAPS     32   /* by the binary logarithm of the time between two samples, ns */
#define POPS     64   /* frames returned from; the last stands for all more */
#define TERMS    32   /* of the sum over d, from common(A, B) outwards; the rest goes to the root */
#define LEARN_AT 32   /* sure pairs in a gap's counts before they outweigh the prior */
#define LEARN_TO 8192 /* and as many as are learned from */

struct waiting {
    const struct process *process;
    struct sample sample;
    struct resolved resolved;
    uint8_t *dump; /* own copy of sample.stack */
};

struct thread {
    struct waiting *run; /* ambiguous samples, SMOOTH_RUN allocated; NULL before the first */
    uint32_t count;
    uint32_t anchor;      /* node of the sure sample before the run; PATHMAP_NONE */
    uint64_t anchor_time; /* ns */
};

struct smoother {
    struct resolver *resolver;
    struct lineage *lineage;
    smoother_sink *sink;
    void *context;
    struct table *threads;      /* (pid, tid) -> struct thread */
    double returns[GAPS][POPS]; /* sure pairs by how many frames the thread returned from */
    double pairs[GAPS];
    double *forward, *backward, *steps; /* scratch, of one run */
    struct candidate_path settled[CANDIDATES_MAX];
};

struct smoother *smoother_new(struct resolver *resolver, smoother_sink *sink, void *context)
{
    struct smoother *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->resolver = resolver;
    s->sink = sink;
    s->context = context;
    s->threads = table_new();
    s->lineage = lineage_new(resolver_map(resolver));
    s->forward = calloc((SMOOTH_RUN + 2) * CANDIDATES_MAX, sizeof *s->forward);
    s->backward = calloc((SMOOTH_RUN + 2) * CANDIDATES_MAX, sizeof *s->backward);
    s->steps = calloc((SMOOTH_RUN + 2) * CANDIDATES_MAX * CANDIDATES_MAX, sizeof *s->steps);
    if (!s->threads || !s->lineage || !s->forward || !s->backward || !s->steps) {
        smoother_free(s);
        return NULL;
    }
    return s;
}

void smoother_free(struct smoother *s)
{
    if (!s)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (s->threads && table_next(s->threads, &cursor, &key, &value)) {
        struct thread *thread = (struct thread *)(uintptr_t)value;
        for (uint32_t i = 0; i < thread->count; i++)
            free(thread->run[i].dump);
        free(thread->run);
        free(thread);
    }
    table_free(s->threads);
    lineage_free(s->lineage);
    free(s->forward);
    free(s->backward);
    free(s->steps);
    free(s);
}

static unsigned gap_of(uint64_t from, uint64_t to)
{
    uint64_t ns = to > from ? to - from : 1;
    unsigned bits = 63 - (unsigned)__builtin_clzll(ns);
    return bits < GAPS ? bits : GAPS - 1;
}

/* Chance that the thread returned from exactly `popped` frames in this gap: the pairs seen, and before there
 * are many a prior that halves with each frame. */
static double returned(const struct smoother *s, unsigned gap, unsigned popped)
{
    unsigned p = popped < POPS ? popped : POPS - 1;
    double prior = p < POPS - 1 ? 1.0 / (double)(p + 1) / (double)(p + 2) : 1.0 / POPS;
    return (s->returns[gap][p] + LEARN_AT * prior) / (s->pairs[gap] + LEARN_AT);
}

/* P(B | A) but for factors that all candidates of B's sample share (smooth.h). */
static double step(struct smoother *s, const struct ancestry *a, const struct ancestry *b, double share,
                   unsigned gap)
{
    uint32_t common = ancestry_common(a, b), terms = common < TERMS ? common : TERMS;
    double sum = 0;
    for (uint32_t i = 0; i < terms; i++) {
        uint32_t kept = common - i;
        sum += returned(s, gap, a->depth - kept) / b->below[kept];
    }
    /* From further out, the chance to come to B is nearly that from the root. */
    sum += returned(s, gap, a->depth - common + terms) / b->below[0];
    return share * sum;
}

static void learn_pair(struct smoother *s, const struct ancestry *a, const struct ancestry *b, unsigned gap)
{
    uint32_t popped = a->depth - ancestry_common(a, b);
    s->returns[gap][popped < POPS ? popped : POPS - 1] += 1;
    s->pairs[gap] += 1;
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

/* One column of the trellis: the candidates at one moment. */
struct column {
    uint64_t time;
    uint32_t count;
    const struct candidate_path *candidates;
    const struct ancestry *ancestry[CANDIDATES_MAX];
};

static int fill_column(struct smoother *s, struct column *c, uint64_t time,
                       const struct candidate_path *candidates, uint32_t count)
{
    c->time = time;
    c->count = count;
    c->candidates = candidates;
    for (uint32_t i = 0; i < count; i++) {
        c->ancestry[i] = lineage_of(s->lineage, candidates[i].node);
        if (!c->ancestry[i])
            return -1;
    }
    return 0;
}

static double *at(double *trellis, uint32_t column)
{
    return trellis + (size_t)column * CANDIDATES_MAX;
}

/* forward and backward over the columns; column 0 or the last may be anchors (one candidate). */
static void run_trellis(struct smoother *s, const struct column *columns, uint32_t count)
{
    for (uint32_t i = 0; i < columns[0].count; i++)
        at(s->forward, 0)[i] = (double)columns[0].candidates[i].probability;
    for (uint32_t t = 1; t < count; t++) {
        const struct column *from = &columns[t - 1], *to = &columns[t];
        double *steps = s->steps + (size_t)t * CANDIDATES_MAX * CANDIDATES_MAX;
        unsigned gap = gap_of(from->time, to->time);
        for (uint32_t j = 0; j < to->count; j++) {
            double sum = 0;
            for (uint32_t i = 0; i < from->count; i++) {
                double p =
                    step(s, from->ancestry[i], to->ancestry[j], (double)to->candidates[j].probability, gap);
                steps[i * CANDIDATES_MAX + j] = p;
                sum += at(s->forward, t - 1)[i] * p;
            }
            at(s->forward, t)[j] = sum;
        }
        normalise(at(s->forward, t), to->count);
    }
    for (uint32_t i = 0; i < columns[count - 1].count; i++)
        at(s->backward, count - 1)[i] = 1;
    for (uint32_t t = count - 1; t-- > 0;) {
        const double *steps = s->steps + (size_t)(t + 1) * CANDIDATES_MAX * CANDIDATES_MAX;
        for (uint32_t i = 0; i < columns[t].count; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < columns[t + 1].count; j++)
                sum += steps[i * CANDIDATES_MAX + j] * at(s->backward, t + 1)[j];
            at(s->backward, t)[i] = sum;
        }
        normalise(at(s->backward, t), columns[t].count);
    }
}

/* A waiting sample's candidates by the trellis, the most probable first (equal ones as they were). They are
 * good until the next call. */
static void choose(struct smoother *s, const struct column *column, uint32_t t, struct resolved *resolved)
{
    double posterior[CANDIDATES_MAX];
    for (uint32_t i = 0; i < column->count; i++)
        posterior[i] = at(s->forward, t)[i] * at(s->backward, t)[i];
    normalise(posterior, column->count);
    for (uint32_t i = 0; i < column->count; i++) {
        struct candidate_path settled = {column->candidates[i].node, (float)posterior[i]};
        uint32_t rank = i;
        for (; rank > 0 && s->settled[rank - 1].probability < settled.probability; rank--)
            s->settled[rank] = s->settled[rank - 1];
        s->settled[rank] = settled;
    }
    resolved->node = s->settled[0].node;
    resolved->probability = (double)s->settled[0].probability;
    resolved->posterior = s->settled;
    resolved->posterior_count = column->count;
}

/* Settles a thread's run; `sure` is the sample that ends it (NULL: none). */
static int settle(struct smoother *s, struct thread *thread, const struct candidate_path *sure,
                  uint64_t sure_time, struct fathom_error *err)
{
    struct column columns[SMOOTH_RUN + 2];
    struct candidate_path anchor = {thread->anchor, 1};
    uint32_t count = 0, first = thread->anchor != PATHMAP_NONE;
    int rc = 0;
    if (first)
        rc = fill_column(s, &columns[count++], thread->anchor_time, &anchor, 1);
    for (uint32_t i = 0; rc == 0 && i < thread->count; i++) {
        const struct candidate_path *candidates;
        uint32_t n = resolver_candidates(s->resolver, thread->run[i].resolved.answer, &candidates);
        rc = fill_column(s, &columns[count++], thread->run[i].sample.time, candidates, n);
    }
    if (rc == 0 && sure)
        rc = fill_column(s, &columns[count++], sure_time, sure, 1);
    if (rc < 0)
        return error_memory(err);
    run_trellis(s, columns, count);
    uint32_t waiting = thread->count;
    thread->count = 0;
    for (uint32_t i = 0; i < waiting; i++) {
        struct waiting *w = &thread->run[i];
        choose(s, &columns[first + i], first + i, &w->resolved);
        if (rc == 0)
            rc = s->sink(s->context, w->process, &w->sample, &w->resolved, err);
        free(w->dump);
    }
    if (waiting && !sure) { /* what follows goes on from the most probable end of this run */
        thread->anchor = thread->run[waiting - 1].resolved.node;
        thread->anchor_time = thread->run[waiting - 1].sample.time;
    }
    return rc;
}

static struct thread *thread_of(struct smoother *s, const struct sample *sample)
{
    bool added;
    uint64_t *place = table_put(s->threads, (uint64_t)sample->pid << 32 | sample->tid, &added);
    if (!place)
        return NULL;
    if (!*place) {
        struct thread *thread = calloc(1, sizeof *thread);
        if (!thread)
            return NULL;
        thread->anchor = PATHMAP_NONE;
        *place = (uintptr_t)thread;
    }
    return (struct thread *)(uintptr_t)*place;
}

static int wait_for_more(struct smoother *s, struct thread *thread, const struct process *process,
                         const struct sample *sample, const struct resolved *resolved,
                         struct fathom_error *err)
{
    if (thread->count == SMOOTH_RUN) {
        int rc = settle(s, thread, NULL, 0, err);
        if (rc < 0)
            return rc;
    }
    if (!thread->run)
        thread->run = malloc(SMOOTH_RUN * sizeof *thread->run);
    uint8_t *dump = sample->stack_size ? malloc(sample->stack_size) : NULL;
    if (!thread->run || (sample->stack_size && !dump)) {
        free(dump);
        return error_memory(err);
    }
    struct waiting *w = &thread->run[thread->count++];
    *w = (struct waiting){process, *sample, *resolved, dump};
    if (dump)
        memcpy(dump, sample->stack, sample->stack_size);
    w->sample.stack = dump;
    w->sample.callchain = NULL;
    w->sample.callchain_count = 0;
    w->sample.branches = NULL;
    w->sample.branch_count = 0;
    return 0;
}

int smoother_add(struct smoother *s, const struct process *process, const struct sample *sample,
                 const struct resolved *resolved, struct fathom_error *err)
{
    if (resolved->kind == RESOLVED_UNKNOWN)
        return s->sink(s->context, process, sample, resolved, err);
    struct thread *thread = thread_of(s, sample);
    if (!thread)
        return error_memory(err);
    if (resolved->kind != RESOLVED_PRECISE)
        return wait_for_more(s, thread, process, sample, resolved, err);
    if (thread->count) {
        struct candidate_path sure = {resolved->node, 1};
        int rc = settle(s, thread, &sure, sample->time, err);
        if (rc < 0)
            return rc;
    } else if (thread->anchor != PATHMAP_NONE &&
               s->pairs[gap_of(thread->anchor_time, sample->time)] < LEARN_TO) {
        const struct ancestry *a = lineage_of(s->lineage, thread->anchor);
        const struct ancestry *b = lineage_of(s->lineage, resolved->node);
        if (!a || !b)
            return error_memory(err);
        learn_pair(s, a, b, gap_of(thread->anchor_time, sample->time));
    }
    thread->anchor = resolved->node;
    thread->anchor_time = sample->time;
    return s->sink(s->context, process, sample, resolved, err);
}

int smoother_flush(struct smoother *s, struct fathom_error *err)
{
    size_t cursor = 0;
    uint64_t key, value;
    int rc = 0;
    while (rc == 0 && table_next(s->threads, &cursor, &key, &value)) {
        struct thread *thread = (struct thread *)(uintptr_t)value;
        if (thread->count)
            rc = settle(s, thread, NULL, 0, err);
    }
    return rc;
}
