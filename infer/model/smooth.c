/* smooth.c - the queues of samples that wait, one for each column of their thread's trellis; see smooth.h. */
#include "infer/model/smooth.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/retired.h"
#include "process/walked.h"

struct waiting {
    bool true_path; /* nothing else is set */
    struct process *process;
    struct sample sample;
    struct resolved resolved;
    uint8_t *dump;       /* own copy of sample.stack */
    struct walked *walk; /* the same of sample.walk */
    uint64_t *chain;     /* the same of sample.callchain, if it has a kernel part */
};

struct thread {
    struct smoother *smoother;
    struct trellis *trellis;
    /* ring buffer of `capacity`, which grows up to TRELLIS_RUN: there may be many threads */
    struct waiting *waiting;
    uint32_t first, count, capacity;
    uint64_t ended;                /* its number when it ended (base/retired.h); 0: it runs */
    struct thread *before, *after; /* in the list of threads with samples that wait */
};

struct smoother {
    struct resolver *resolver;
    struct coherence *model;
    struct trellis_work *work;
    smoother_sink *sink;
    void *context;
    struct table *threads; /* thread_key -> struct thread */
    struct thread *last;   /* the last one asked for; NULL: none */
    uint64_t last_key;
    struct thread *waits, *waits_last; /* threads with samples that wait, in the order of their first one */
    struct retired ended;              /* thread_keys */
    struct candidate_path settled[CANDIDATES_MAX];
};

struct smoother *smoother_new(struct resolver *resolver, struct coherence *model, smoother_sink *sink,
                              void *context)
{
    struct smoother *s =
        allocate(struct smoother, .resolver = resolver, .model = model, .sink = sink, .context = context,
                 .threads = table_new(), .work = trellis_work_new(model));
    return whole_or_free(s, s->threads && s->work, smoother_free);
}

static struct waiting *waiting_at(const struct thread *thread, uint32_t i)
{
    return &thread->waiting[(thread->first + i) % thread->capacity];
}

static void begin_wait(struct thread *thread)
{
    struct smoother *s = thread->smoother;
    thread->before = s->waits_last;
    thread->after = NULL;
    *(s->waits_last ? &s->waits_last->after : &s->waits) = thread;
    s->waits_last = thread;
}

static void end_wait(struct thread *thread)
{
    struct smoother *s = thread->smoother;
    *(thread->before ? &thread->before->after : &s->waits) = thread->after;
    *(thread->after ? &thread->after->before : &s->waits_last) = thread->before;
}

static void waiting_clear(struct waiting *w)
{
    free(w->dump);
    free(w->chain);
    free(w->walk);
}

static void thread_free(struct thread *thread)
{
    for (uint32_t i = 0; i < thread->count; i++)
        waiting_clear(waiting_at(thread, i));
    trellis_free(thread->trellis);
    free(thread->waiting);
    free(thread);
}

void smoother_free(struct smoother *s)
{
    if (!s)
        return;
    size_t cursor = 0;
    uint64_t key, value;
    while (s->threads && table_next(s->threads, &cursor, &key, &value))
        thread_free((struct thread *)(uintptr_t)value);
    table_free(s->threads);
    trellis_work_free(s->work);
    free(s);
}

static struct thread *thread_of(struct smoother *s, uint64_t thread_key)
{
    if (s->last && thread_key == s->last_key)
        return s->last;
    bool added;
    uint64_t *place = table_put(s->threads, thread_key, &added);
    if (!place)
        return NULL;
    if (!*place) {
        struct thread *thread = calloc(1, sizeof *thread);
        if (!thread)
            return NULL;
        thread->smoother = s;
        thread->trellis = trellis_new(s->work);
        if (!thread->trellis) {
            free(thread);
            return NULL;
        }
        *place = (uintptr_t)thread;
    }
    s->last = (struct thread *)(uintptr_t)*place;
    s->last->ended = 0;
    s->last_key = thread_key;
    return s->last;
}

/* Sorts the candidates by their final probabilities, the most probable first (stably). */
static void choose_candidate(struct smoother *s, const struct column *column, const double *probabilities,
                             struct resolved *resolved)
{
    const struct candidate_path *candidates;
    uint32_t first, count = resolver_candidates(s->resolver, resolved->answer, &candidates, &first);
    double looked_at = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        looked_at += i < column->count ? (double)candidates[i].probability : 0;
        all += (double)candidates[i].probability;
    }
    double part = looked_at < all ? looked_at / all : 1;
    for (uint32_t i = 0; i < column->count; i++) {
        struct candidate_path candidate = {candidates[i].node, (float)(part * probabilities[i])};
        uint32_t rank = i;
        for (; rank > 0 && s->settled[rank - 1].probability < candidate.probability; rank--)
            s->settled[rank] = s->settled[rank - 1];
        s->settled[rank] = candidate;
    }
    resolved->node = s->settled[0].node;
    resolved->kind = resolver_kind(s->resolver, resolved->answer, resolved->node);
    resolved->probability = (double)s->settled[0].probability;
    resolved->posterior = s->settled;
    resolved->posterior_count = column->count;
}

/* A trellis_sink (context: the thread): the column belongs to the first sample that waits. */
static int take_settled(void *context, const struct column *column, const double *probabilities,
                        struct fathom_error *err)
{
    struct thread *thread = context;
    struct smoother *s = thread->smoother;
    struct waiting *w = waiting_at(thread, 0);
    thread->first = (thread->first + 1) % thread->capacity;
    if (--thread->count == 0)
        end_wait(thread);
    int rc = 0;
    if (!w->true_path) {
        choose_candidate(s, column, probabilities, &w->resolved);
        rc = s->sink(s->context, w->process, &w->sample, &w->resolved, err);
        if (w->process)
            process_let_go(w->process);
    }
    waiting_clear(w);
    return rc;
}

static bool more_capacity(struct thread *thread)
{
    uint32_t capacity = thread->capacity ? thread->capacity * 2 : 8;
    struct waiting *waiting = malloc(capacity * sizeof *waiting);
    if (!waiting)
        return false;
    for (uint32_t i = 0; i < thread->count; i++)
        waiting[i] = *waiting_at(thread, i);
    free(thread->waiting);
    thread->waiting = waiting;
    thread->first = 0;
    thread->capacity = capacity;
    return true;
}

/* Copies what is borrowed from the record: the dump, and the part of a call chain that reports show. */
static bool own_copies(struct waiting *w)
{
    struct sample *s = &w->sample;
    const uint32_t count = s->mode == SAMPLE_MODE_KERNEL ? s->callchain_count : 0;
    w->dump = s->stack_size ? malloc(s->stack_size) : NULL;
    w->chain = count ? malloc(count * sizeof *w->chain) : NULL;
    w->walk = s->walk ? walked_copy(s->walk) : NULL;
    if ((s->stack_size && !w->dump) || (s->walk && !w->walk) || (count && !w->chain)) {
        waiting_clear(w);
        return false;
    }
    if (w->dump)
        memcpy(w->dump, s->stack, s->stack_size);
    if (w->chain)
        memcpy(w->chain, s->callchain, count * sizeof *w->chain);
    s->stack = w->dump;
    s->walk = w->walk;
    s->callchain = w->chain;
    s->callchain_count = count;
    s->branches = NULL;
    s->branch_count = 0;
    return true;
}

/* Queues the sample (resolved NULL: a true path), with its own copies. */
static int queue_sample(struct thread *thread, struct process *process, const struct sample *sample,
                        const struct resolved *resolved, struct fathom_error *err)
{
    if (thread->count == thread->capacity && !more_capacity(thread))
        return error_memory(err);
    struct waiting w = {.true_path = !resolved};
    if (resolved) {
        w.process = process;
        w.sample = *sample;
        w.resolved = *resolved;
        if (!own_copies(&w))
            return error_memory(err);
        if (process)
            process_hold(process);
    }
    if (thread->count == 0)
        begin_wait(thread);
    *waiting_at(thread, thread->count++) = w;
    return 0;
}

int smoother_add(struct smoother *s, struct run_time run, struct process *process,
                 const struct sample *sample, const struct resolved *resolved, struct fathom_error *err)
{
    if (resolved->kind == RESOLVED_UNKNOWN)
        return s->sink(s->context, process, sample, resolved, err);
    struct thread *thread = thread_of(s, run.thread_key);
    if (!thread || coherence_count(s->model, resolved->answer, 1) < 0)
        return error_memory(err);
    const struct candidate_path *candidates;
    struct column column = {.time = run.ran};
    uint32_t all = resolver_candidates(s->resolver, resolved->answer, &candidates, &column.first);
    column.count = all < coherence_most(s->model) ? all : coherence_most(s->model);
    if (column.count == 1 && thread->count == 0) {
        int rc = trellis_add(thread->trellis, column, NULL, NULL, err);
        return rc < 0 ? rc : s->sink(s->context, process, sample, resolved, err);
    }
    int rc = queue_sample(thread, process, sample, resolved, err);
    return rc < 0 ? rc : trellis_add(thread->trellis, column, take_settled, thread, err);
}

int smoother_true_path(struct smoother *s, struct run_time run, uint32_t state, struct fathom_error *err)
{
    struct thread *thread = thread_of(s, run.thread_key);
    if (!thread)
        return error_memory(err);
    struct column column = {run.ran, state, 1};
    int rc = thread->count ? queue_sample(thread, NULL, NULL, NULL, err) : 0;
    if (rc < 0)
        return rc;
    return trellis_add(thread->trellis, column, thread->count ? take_settled : NULL, thread, err);
}

/* Frees the thread whose turn it is, unless its samples wait. */
static void forget_ended(struct smoother *s)
{
    uint64_t key, number;
    const uint64_t *place = retired_due(&s->ended, &key, &number) ? table_find(s->threads, key) : NULL;
    struct thread *thread = place ? (struct thread *)(uintptr_t)*place : NULL;
    if (!thread || thread->ended != number || thread->count)
        return;
    table_remove(s->threads, key);
    s->last = NULL;
    thread_free(thread);
}

void smoother_end(struct smoother *s, uint64_t thread_key)
{
    forget_ended(s);
    const uint64_t *place = table_find(s->threads, thread_key);
    if (place)
        ((struct thread *)(uintptr_t)*place)->ended = retired_add(&s->ended, thread_key);
    s->last = NULL; /* more samples may follow */
}

/* Whether a sample of the process waits, and is of this thread unless that is SMOOTHER_ALL. A queue has samples of one process;
 * a coroutine's has those of several threads. */
static bool has_waiting(const struct thread *thread, const struct process *process, uint32_t tid)
{
    for (uint32_t i = 0; i < thread->count; i++) {
        const struct waiting *w = waiting_at(thread, i);
        if (w->true_path)
            continue;
        if (w->process != process)
            return false;
        if (tid == SMOOTHER_ALL || w->sample.tid == tid)
            return true;
    }
    return false;
}

int smoother_settle(struct smoother *s, const struct process *process, uint32_t tid, struct fathom_error *err)
{
    int rc = 0;
    for (struct thread *thread = s->waits, *after; rc == 0 && thread; thread = after) {
        after = thread->after;
        if (!process || has_waiting(thread, process, tid))
            rc = trellis_flush(thread->trellis, take_settled, thread, err);
    }
    return rc;
}
