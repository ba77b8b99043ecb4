/* pipeline.c - the passes over a recording; see pipeline.h. */
#include "infer/pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "infer/bases.h"
#include "infer/narrow.h"

/* What is taken as one stack below a base that was not recorded: the default size of a thread's. */
#define STACK_BYTES (8u << 20)

struct pipeline {
    struct image_cache *images;
    const struct log *log;
    struct pipeline_options options;
    struct processes *processes; /* of the pass that runs */
    struct trie *trie;
    struct trainer *trainer;
    struct pathmap *map;
    struct resolver *resolver;
    struct smoother *smoother; /* NULL: no smoothing */
    struct narrow *narrow;
    struct bases *bases;
    struct table *unseen;  /* (trie function, height) -> samples */
    struct table *found;   /* (pid, tid) -> base that an unwound stack or the votes told */
    struct table *held;    /* audit samples that are held back, by moment_key() -> 1 */
    uint64_t audits;       /* that the learning pass met */
    struct table *applied; /* (pid, tid) that were looked up in `found` and `bases` in this pass */
    bool stale;            /* an earlier resolver met another build */
    bool base_unknown;     /* the learning pass met a sample without one */
    const struct event *events;
    size_t event_count;
    uint32_t event; /* the one to resolve */
    pipeline_sink *sink;
    void *sink_context;
    struct pipeline_summary summary;
};

struct pipeline *pipeline_new(struct image_cache *images, const struct pipeline_options *options,
                              const struct log *log)
{
    struct pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->images = images;
    p->options = *options;
    p->log = log;
    p->processes = processes_new(images, log);
    p->trie = trie_new();
    p->trainer = p->trie ? trainer_new(p->trie) : NULL;
    p->unseen = table_new();
    p->found = table_new();
    p->applied = table_new();
    p->held = table_new();
    if (!p->held || !p->processes || !p->trainer || !p->unseen || !p->found || !p->applied) {
        pipeline_free(p);
        return NULL;
    }
    return p;
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    bases_free(p->bases);
    smoother_free(p->smoother);
    narrow_free(p->narrow);
    resolver_free(p->resolver);
    pathmap_close(p->map);
    trainer_free(p->trainer);
    trie_free(p->trie);
    processes_free(p->processes);
    table_free(p->unseen);
    table_free(p->found);
    table_free(p->applied);
    table_free(p->held);
    free(p);
}

static bool is_audit(const struct pipeline *p, const struct sample *sample)
{
    return sample->event < p->event_count && p->events[sample->event].audit;
}

static uint64_t thread_key(const struct sample *sample)
{
    return (uint64_t)sample->pid << 32 | sample->tid;
}

static uint64_t moment_key(const struct sample *sample)
{
    return hash_u64(thread_key(sample)) ^ sample->time;
}

/* Whether the sample is an audit that was held back. */
static bool is_held(const struct pipeline *p, const struct sample *sample)
{
    return is_audit(p, sample) && table_find(p->held, moment_key(sample));
}

/* Decides whether an audit sample is held back, once for each: 1, 0 or -ENOMEM. */
static int hold_back(struct pipeline *p, const struct sample *sample, struct fathom_error *err)
{
    uint64_t number = p->audits++;
    bool chosen =
        p->options.learning == LEARN_NOTHING || (number >= PIPELINE_FIRST_AUDITS && number % 10 == 0);
    if (!chosen || sample->event == p->event)
        return 0;
    return table_put(p->held, moment_key(sample), NULL) ? 1 : error_memory(err);
}

/* Enters the sample's dump; keeps the base that it told for the passes to come. */
static int learn_dump(struct pipeline *p, struct process *process, const struct sample *sample,
                      struct fathom_error *err)
{
    uint64_t base;
    bool known = process_stack_base(process, sample->tid, sample->sp, &base) == STACK_KNOWN;
    enum unwind_end end;
    int entered = trainer_add(p->trainer, process, sample, &end, err);
    if (entered < 0)
        return entered;
    if (entered == 0) {
        p->summary.not_learned[end]++;
        return 0;
    }
    p->summary.learned++;
    if (!known && process_stack_base(process, sample->tid, sample->sp, &base) == STACK_KNOWN) {
        uint64_t *place = table_put(p->found, thread_key(sample), NULL);
        if (!place)
            return error_memory(err);
        *place = base;
    }
    return 0;
}

int pipeline_learn(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    struct process *process = process_find(p->processes, sample->pid);
    if (!process || !sample->has_regs)
        return 0;
    uint64_t base;
    if (!p->base_unknown && process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN)
        p->base_unknown = true;
    if (p->options.hold_back && sample->stack && is_audit(p, sample)) {
        int held = hold_back(p, sample, err);
        if (held)
            return held < 0 ? held : 0;
    }
    if (sample->stack &&
        (p->options.learning == LEARN_DUMPS || (p->options.learning == LEARN_AUDITS && is_audit(p, sample))))
        return learn_dump(p, process, sample, err);
    return 0;
}

struct trie *pipeline_trie(struct pipeline *p)
{
    return p->trie;
}

/* A pass begins: processes as they were before the first record. */
static int begin_pass(struct pipeline *p, struct fathom_error *err)
{
    processes_free(p->processes);
    table_free(p->applied);
    p->processes = processes_new(p->images, p->log);
    p->applied = table_new();
    return p->processes && p->applied ? 0 : error_memory(err);
}

/* Gives a thread without a base the one that was found or voted, the first time that it comes up in this
 * pass. */
static int apply_base(struct pipeline *p, struct process *process, const struct sample *sample,
                      struct fathom_error *err)
{
    uint64_t low, base;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_KNOWN)
        return 0;
    bool added;
    if (!table_put(p->applied, thread_key(sample), &added))
        return error_memory(err);
    if (!added)
        return 0;
    const uint64_t *found = table_find(p->found, thread_key(sample));
    if (found) {
        base = *found;
        low = base > STACK_BYTES ? base - STACK_BYTES : 0;
    } else if (!p->bases || process_has_stack(process, sample->tid) ||
               !bases_winner(p->bases, sample->pid, sample->tid, &low, &base)) {
        return 0;
    } else {
        uint64_t *place = table_put(p->found, thread_key(sample), NULL);
        if (!place)
            return error_memory(err);
        *place = base;
        p->summary.bases_voted++;
    }
    return process_set_stack(process, sample->tid, low, base, err);
}

static int vote(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    struct process *process = process_find(p->processes, sample->pid);
    /* On a thread that has a stack, one outside of it is a coroutine's or a signal handler's. These run few
     * functions each, so that any base at which one of these is known would win. */
    if (process && sample->has_regs && !table_find(p->found, thread_key(sample)) &&
        !process_has_stack(process, sample->tid))
        return bases_vote(p->bases, process, sample, err);
    return 0;
}

/* The sample of the event to resolve, in its process whose stack has the base that is known by now. 1; 0: the
 * record was something else. */
static int take_sample(struct pipeline *p, const struct record *record, struct process **process,
                       struct fathom_error *err)
{
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    if (sample->event != p->event && !is_held(p, sample))
        return 0;
    *process = process_find(p->processes, sample->pid);
    if (p->base_unknown && *process && sample->has_regs) {
        int rc = apply_base(p, *process, sample, err);
        if (rc < 0)
            return rc;
    }
    return 1;
}

/* Counts the CIDs that the map does not know. */
static int survey(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    struct process *process = NULL;
    struct resolved resolved;
    int rc = take_sample(p, record, &process, err);
    if (rc <= 0)
        return rc;
    rc = resolver_resolve(p->resolver, process, &record->sample, &resolved, err);
    if (rc < 0 || resolved.kind != RESOLVED_UNKNOWN || resolved.reason != UNKNOWN_CONTEXT ||
        resolved.cid.height > UINT32_MAX)
        return rc;
    uint32_t function = trainer_function(p->trainer, &resolved.cid.place);
    if (function == TRIE_NONE)
        return error_memory(err);
    uint64_t *samples = table_put(p->unseen, (uint64_t)function << 32 | (uint32_t)resolved.cid.height, NULL);
    if (!samples)
        return error_memory(err);
    ++*samples;
    return 0;
}

static int resolve(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    struct process *process = NULL;
    struct resolved resolved;
    int rc = take_sample(p, record, &process, err);
    if (rc <= 0)
        return rc;
    const struct sample *sample = &record->sample;
    rc = resolver_resolve(p->resolver, process, sample, &resolved, err);
    if (rc == 0)
        rc = narrow_resolved(p->narrow, process, sample, &resolved, err);
    if (rc < 0)
        return rc;
    return p->smoother ? smoother_add(p->smoother, process, sample, &resolved, err)
                       : p->sink(p->sink_context, process, sample, &resolved, err);
}

bool pipeline_stale(const struct pipeline *p)
{
    return p->stale || (p->resolver && resolver_stale(p->resolver));
}

/* The trie becomes the map to resolve with. */
static int make_map(struct pipeline *p, struct fathom_error *err)
{
    void *data;
    size_t size;
    struct pathmap *map;
    int rc = trie_serialise(p->trie, &data, &size, err);
    if (rc == 0)
        rc = pathmap_open_memory(data, size, &map, err);
    if (rc < 0)
        return rc;
    struct resolver *resolver = resolver_new(map, p->log);
    if (!resolver) {
        pathmap_close(map);
        return error_memory(err);
    }
    bases_free(p->bases); /* its votes speak of the old map; what it found was kept */
    p->bases = NULL;
    p->stale = pipeline_stale(p);
    resolver_free(p->resolver);
    pathmap_close(p->map);
    p->map = map;
    p->resolver = resolver;
    return 0;
}

/* Tells the new resolver which CIDs are only inferred. */
static int mark_inferred(struct pipeline *p, const struct table *inferred, struct fathom_error *err)
{
    for (uint32_t f = 0; f < pathmap_function_count(p->map); f++) {
        struct pathmap_function function = pathmap_function(p->map, f);
        struct pathmap_image in = pathmap_image(p->map, function.image);
        uint32_t image = trie_image(p->trie, in.path, &in.build_id);
        uint32_t number =
            image == TRIE_NONE ? TRIE_NONE : trie_function(p->trie, image, function.address, function.name);
        uint32_t first, count = pathmap_function_nodes(p->map, f, &first);
        for (uint32_t i = first; number != TRIE_NONE && i < first + count; i++) {
            uint32_t height = pathmap_node(p->map, i).height;
            if (table_find(inferred, (uint64_t)number << 32 | height) &&
                resolver_mark_inferred(p->resolver, f, height) < 0)
                return error_memory(err);
        }
    }
    return 0;
}

/* Enters paths for the unseen CIDs; those found stay in p->unseen, the others go. */
static int extend_trie(struct pipeline *p, const struct statics *statics, struct fathom_error *err)
{
    size_t count = table_count(p->unseen), cursor = 0, filled = 0;
    struct unseen *unseen = malloc(count * sizeof *unseen);
    if (!unseen)
        return error_memory(err);
    uint64_t key, samples;
    while (table_next(p->unseen, &cursor, &key, &samples))
        unseen[filled++] = (struct unseen){(uint32_t)(key >> 32), (uint32_t)key, samples, false};
    int rc = extend_paths(p->trie, p->map, statics, unseen, count, &p->summary.inferred, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!unseen[i].found)
            table_remove(p->unseen, (uint64_t)unseen[i].function << 32 | unseen[i].height);
    }
    free(unseen);
    return rc;
}

/* Paths for the CIDs that the survey met: the map grows by them. The map is made anew before, for the
 * functions that the static calls brought, and after. */
static int infer_unseen(struct pipeline *p, struct fathom_error *err)
{
    if (table_count(p->unseen) == 0)
        return 0;
    struct statics statics;
    int rc = statics_build(p->trie, p->images, &statics, err);
    if (rc < 0)
        return rc;
    rc = make_map(p, err);
    if (rc == 0)
        rc = extend_trie(p, &statics, err);
    statics_free(&statics);
    if (rc == 0)
        rc = make_map(p, err);
    return rc < 0 ? rc : mark_inferred(p, p->unseen, err);
}

/* A pass over the recording. */
static int run_pass(struct pipeline *p, struct reader *reader, order_sink *sink, struct fathom_error *err)
{
    int rc = begin_pass(p, err);
    return rc < 0 ? rc : reader_run(reader, sink, p, err);
}

int pipeline_run(struct pipeline *p, struct reader *reader, uint32_t event, const struct pathmap *map,
                 pipeline_sink *sink, void *context, struct fathom_error *err)
{
    p->event_count = reader_events(reader, &p->events);
    p->event = event;
    p->sink = sink;
    p->sink_context = context;
    /* The map first: its hooked images shape the paths that are learned. */
    int rc = map ? trie_merge(p->trie, map, err) : 0;
    if (rc == 0)
        rc = run_pass(p, reader, pipeline_learn, err);
    if (rc == 0)
        rc = make_map(p, err);
    if (rc == 0 && p->base_unknown) {
        p->bases = bases_new(p->resolver);
        rc = p->bases ? run_pass(p, reader, vote, err) : error_memory(err);
    }
    if (rc == 0 && !p->options.no_automaton) {
        rc = run_pass(p, reader, survey, err);
        if (rc == 0)
            rc = infer_unseen(p, err);
    }
    if (rc == 0 && !p->options.no_temporal) {
        p->smoother = smoother_new(p->resolver, p->sink, p->sink_context);
        rc = p->smoother ? 0 : error_memory(err);
    }
    if (rc == 0) {
        p->narrow = narrow_new(p->resolver);
        rc = p->narrow ? run_pass(p, reader, resolve, err) : error_memory(err);
    }
    if (rc == 0 && p->smoother)
        rc = smoother_flush(p->smoother, err);
    return rc;
}

const struct pathmap *pipeline_map(const struct pipeline *p)
{
    return p->map;
}

struct resolver *pipeline_resolver(struct pipeline *p)
{
    return p->resolver;
}

void pipeline_summary(const struct pipeline *p, struct pipeline_summary *out)
{
    *out = p->summary;
}
