/* pipeline.c - the passes over a recording; see pipeline.h. */
#include "infer/pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "infer/expectation.h"
#include "infer/inside.h"
#include "infer/narrow.h"
#include "infer/numbering.h"
#include "infer/openness.h"
#include "infer/run_time.h"
#include "infer/stack_bases.h"
#include "infer/weights.h"

#define OPEN_ROUNDS 3 /* of asking the automaton, by what the one before told of this run */

struct pipeline {
    struct image_cache *images;
    const struct log *log;
    struct pipeline_options options;
    struct processes *processes; /* of the pass that runs */
    struct trie *trie;
    struct trainer *trainer;
    const struct pathmap *trained; /* NULL: none was given */
    struct pathmap *map;
    struct resolver *resolver;
    uint32_t *nodes;           /* the map's number by the trie's */
    struct coherence *model;   /* NULL: no smoothing */
    struct smoother *smoother; /* the same */
    struct inside *inside;
    struct narrow *narrow;
    struct stack_bases *bases;
    struct survey *survey;
    struct run_times *run_times; /* of the pass that runs; NULL before the samples of the event are known */
    uint32_t *anchors; /* trie nodes of the audit samples' paths, in their order; TRIE_NONE: not told */
    size_t anchor_count, anchor_room;
    size_t next_anchor; /* in this pass */
    struct table *held; /* audit samples that are held back, by moment_key() -> 1 */
    struct table *ran;  /* PIDs with samples -> 1 */
    uint64_t audits;    /* that the learning pass met */
    bool stale;         /* an earlier resolver met another build */
    bool base_unknown;  /* the learning pass met a sample on no stack that the records tell */
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
    p->survey = survey_new();
    p->bases = stack_bases_new();
    p->held = table_new();
    p->ran = table_new();
    if (!p->processes || !p->trainer || !p->survey || !p->bases || !p->held || !p->ran) {
        pipeline_free(p);
        return NULL;
    }
    return p;
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    stack_bases_free(p->bases);
    smoother_free(p->smoother);
    inside_free(p->inside);
    narrow_free(p->narrow);
    coherence_free(p->model);
    resolver_free(p->resolver);
    pathmap_close(p->map);
    trainer_free(p->trainer);
    trie_free(p->trie);
    processes_free(p->processes);
    survey_free(p->survey);
    run_times_free(p->run_times);
    free(p->anchors);
    free(p->nodes);
    table_free(p->held);
    table_free(p->ran);
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
    enum stack_kind before = process_stack_base(process, sample->tid, sample->sp, &base);
    enum unwind_end end;
    int entered = trainer_add(p->trainer, process, sample, &end, err);
    if (entered < 0)
        return entered;
    if (entered == 0) {
        p->summary.not_learned[end]++;
        return 0;
    }
    p->summary.learned++;
    if (is_audit(p, sample))
        p->anchors[p->anchor_count - 1] = trainer_leaf(p->trainer);
    return stack_bases_learn(p->bases, process, sample, before, err);
}

/* Room for what the audit sample will tell. */
static int add_anchor(struct pipeline *p, struct fathom_error *err)
{
    if (p->anchor_count == p->anchor_room) {
        size_t room = p->anchor_room ? p->anchor_room * 2 : 256;
        uint32_t *anchors = realloc(p->anchors, room * sizeof *anchors);
        if (!anchors)
            return error_memory(err);
        p->anchors = anchors;
        p->anchor_room = room;
    }
    p->anchors[p->anchor_count++] = TRIE_NONE;
    return 0;
}

int pipeline_learn(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    if (is_audit(p, sample) && add_anchor(p, err) < 0)
        return -ENOMEM;
    struct process *process = process_find(p->processes, sample->pid);
    if (!process || !sample->has_regs)
        return 0;
    if (!table_find(p->ran, sample->pid) && !table_put(p->ran, sample->pid, NULL))
        return error_memory(err);
    uint64_t base;
    if (!p->base_unknown && process_stack_base(process, sample->tid, sample->sp, &base) != STACK_OWN)
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

static bool is_clock(const struct event *event)
{
    return event->attr.type == PERF_TYPE_SOFTWARE &&
           (event->attr.config == PERF_COUNT_SW_CPU_CLOCK || event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

/* A pass begins: processes as they were before the first record. */
static int begin_pass(struct pipeline *p, struct fathom_error *err)
{
    processes_free(p->processes);
    run_times_free(p->run_times);
    p->processes = processes_new(p->images, p->log);
    p->run_times = run_times_new(is_clock(&p->events[p->event]) ? p->event : RUN_TIME_NO_CLOCK);
    p->next_anchor = 0;
    return p->processes && p->run_times ? 0 : error_memory(err);
}

static int vote(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    struct process *process = process_find(p->processes, sample->pid);
    return process && sample->has_regs ? stack_bases_vote(p->bases, process, sample, err) : 0;
}

/* What a record is to the passes that come after learning. */
struct taken {
    bool sample;     /* of the event to resolve */
    uint32_t anchor; /* an audit sample: the trie's node of its path; TRIE_NONE */
    struct process *process;
    struct run_time run; /* the strand, and how long it ran when that is wanted */
};

/* A sample of the event to resolve or an anchor, in its process whose stack has the base that is known by
 * now. */
static int take_sample(struct pipeline *p, const struct record *record, struct taken *out,
                       struct fathom_error *err)
{
    *out = (struct taken){.anchor = TRIE_NONE};
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    out->sample = sample->event == p->event || is_held(p, sample);
    if (is_audit(p, sample) && p->next_anchor < p->anchor_count) {
        uint32_t anchor = p->anchors[p->next_anchor++];
        out->anchor = out->sample ? TRIE_NONE : anchor;
    }
    if (!out->sample && out->anchor == TRIE_NONE)
        return 0;
    out->process = process_find(p->processes, sample->pid);
    int rc = p->base_unknown && out->process && sample->has_regs
                 ? stack_bases_apply(p->bases, out->process, sample, err)
                 : 0;
    out->run.strand = process_strand(out->process, sample);
    if (rc == 0 && !p->options.no_temporal && run_times_pass(p->run_times, sample, &out->run) < 0)
        rc = error_memory(err);
    return rc;
}

/* Opens a file that is mapped into a process with samples, when all that is known of paths is what binaries
 * show: they begin in the program and the C library, even if no sample fell there. */
static void open_mapped(struct pipeline *p, const struct record *record)
{
    struct process *process = process_find(p->processes, record->pid);
    if (process && pathmap_node_count(p->map) == 0 && table_find(p->ran, record->pid))
        process_mapping(process, record->mmap.address);
}

/* Notes the CID of a sample and of an anchor. */
static int survey(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    struct taken taken;
    int rc = take_sample(p, record, &taken, err);
    if (rc == 0 && record->kind == RECORD_MMAP && !p->options.no_automaton)
        open_mapped(p, record);
    if (rc < 0 || (!taken.sample && taken.anchor == TRIE_NONE))
        return rc;
    struct cid cid = cid_of_sample(taken.process, &record->sample);
    if (cid.reason != UNKNOWN_NOT || cid.height > UINT32_MAX)
        return 0;
    /* Asked of the map as it was given: an image of another build shows before the trie takes it in. */
    resolver_function(p->resolver, cid.place.image, cid.place.function);
    uint32_t function = trainer_function(p->trainer, &cid.place);
    if (function == TRIE_NONE ||
        survey_add(p->survey, taken.run, function, (uint32_t)cid.height, taken.anchor) < 0)
        return error_memory(err);
    return 0;
}

static int resolve_anchor(struct pipeline *p, const struct taken *taken, struct fathom_error *err)
{
    uint32_t state;
    int rc = p->smoother ? expectation_anchor(p->resolver, p->model, p->nodes[taken->anchor], &state) : 0;
    if (rc < 0)
        return error_memory(err);
    return rc ? smoother_anchor(p->smoother, taken->run, state, err) : 0;
}

static int resolve(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    struct taken taken;
    struct resolved resolved;
    int rc = take_sample(p, record, &taken, err);
    const struct sample *sample = &record->sample;
    if (rc == 0 && taken.anchor != TRIE_NONE)
        return resolve_anchor(p, &taken, err);
    if (rc < 0 || !taken.sample)
        return rc;
    rc = resolver_resolve(p->resolver, taken.process, sample, &resolved, err);
    if (rc == 0)
        rc = inside_resolved(p->inside, &resolved, err);
    if (rc == 0)
        rc = narrow_resolved(p->narrow, taken.process, sample, &resolved, err);
    if (rc < 0)
        return rc;
    return p->smoother ? smoother_add(p->smoother, taken.run, taken.process, sample, &resolved, err)
                       : p->sink(p->sink_context, taken.process, sample, &resolved, err);
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
    uint32_t *nodes = NULL;
    int rc = trie_serialise_numbers(p->trie, &data, &size, &nodes, err);
    if (rc == 0)
        rc = pathmap_open_memory(data, size, &map, err);
    if (rc < 0) {
        free(nodes);
        return rc;
    }
    free(p->nodes);
    p->nodes = nodes;
    struct resolver *resolver = resolver_new(map, p->log);
    if (!resolver) {
        pathmap_close(map);
        return error_memory(err);
    }
    p->stale = pipeline_stale(p);
    resolver_free(p->resolver);
    pathmap_close(p->map);
    p->map = map;
    p->resolver = resolver;
    return 0;
}

/* The CIDs that may have paths which the map does not know, in an open world all; the caller frees them. */
static int wanted_cids(struct pipeline *p, bool open, struct wanted **out, size_t *count)
{
    const struct wanted *cids;
    struct numbering functions = {0};
    size_t all = survey_cids(p->survey, &cids);
    *count = 0;
    *out = malloc((all + 1) * sizeof **out);
    bool good = *out && numbering_make(&functions, p->trie, p->map);
    for (size_t i = 0; good && i < all; i++) {
        uint32_t function = functions.to_map[cids[i].function];
        if (open || function == PATHMAP_NONE || extend_is_open(p->map, function, cids[i].height))
            (*out)[(*count)++] = cids[i];
    }
    numbering_clear(&functions);
    return good ? 0 : -ENOMEM;
}

/* In a closed world, the map grows by the paths that the automaton finds for these CIDs. */
static int extend_closed(struct pipeline *p, const struct statics *statics, struct wanted *wanted,
                         size_t count, struct fathom_error *err)
{
    struct extension extension;
    int rc = extend_paths(p->trie, p->map, NULL, statics, wanted, count, &extension, err);
    if (rc < 0)
        return rc;
    p->summary.inferred = extension.summary;
    rc = make_map(p, err);
    for (size_t i = 0; rc == 0 && i < extension.count; i++) {
        const struct expected_path *path = &extension.paths[i];
        if (resolver_expect(p->resolver, p->nodes[path->node], path->share) < 0)
            rc = error_memory(err);
    }
    free(extension.paths);
    return rc;
}

/* How many of each node's `self` are unwound samples of this recording. The caller frees it; NULL: out of
 * memory. */
static uint32_t *unwound_samples(const struct pipeline *p)
{
    uint32_t nodes = pathmap_node_count(p->map), *unwound = calloc((size_t)nodes + 1, sizeof *unwound);
    for (uint32_t i = 0; unwound && !p->trained && i < nodes; i++) {
        uint64_t self = pathmap_node(p->map, i).self;
        unwound[i] = self < UINT32_MAX ? (uint32_t)self : UINT32_MAX;
    }
    for (size_t i = 0; unwound && p->trained && i < p->anchor_count; i++)
        if (p->anchors[i] != TRIE_NONE)
            unwound[p->nodes[p->anchors[i]]]++;
    return unwound;
}

/* The weights of the map as it is, with the samples of these CIDs shared out. */
static int weigh(struct pipeline *p, const struct wanted *wanted, size_t count, struct weights **out,
                 struct fathom_error *err)
{
    struct numbering functions = {0};
    uint32_t *unwound = unwound_samples(p);
    bool calls = p->trained && openness_hooked(p->trained);
    struct weights *weights = unwound ? weights_new(p->map, unwound, calls) : NULL;
    bool good = weights && numbering_make(&functions, p->trie, p->map);
    for (size_t i = 0; good && i < count; i++) {
        uint32_t function = functions.to_map[wanted[i].function];
        good = function == PATHMAP_NONE ||
               weights_add(weights, function, wanted[i].height, wanted[i].samples) == 0;
    }
    numbering_clear(&functions);
    free(unwound);
    if (!good) {
        weights_free(weights);
        return error_memory(err);
    }
    weights_run(weights, !p->options.no_em);
    *out = weights;
    return 0;
}

/* The map grows by the paths that the automaton finds by these weights. */
static int extend_by(struct pipeline *p, const struct weights *weights, const struct statics *statics,
                     struct wanted *wanted, size_t count, struct fathom_error *err)
{
    struct graph_weights of_nodes;
    struct extension extension;
    if (weights_of_nodes(weights, &of_nodes) < 0)
        return error_memory(err);
    int rc = extend_paths(p->trie, p->map, &of_nodes, statics, wanted, count, &extension, err);
    free(of_nodes.passes);
    free(of_nodes.self);
    if (rc < 0)
        return rc;
    free(extension.paths); /* weights tell their shares better */
    p->summary.inferred = extension.summary;
    return make_map(p, err);
}

/* In an open world, the same for all CIDs: the automaton is asked by what is known of this run, the samples
 * are shared out among the paths that it finds, and again by what these tell. */
static int extend_open(struct pipeline *p, const struct statics *statics, struct wanted *wanted, size_t count,
                       struct fathom_error *err)
{
    struct weights *weights = NULL;
    int rc = weigh(p, wanted, 0, &weights, err), rounds = p->options.no_em ? 1 : OPEN_ROUNDS;
    for (int round = 0; rc == 0 && round < rounds; round++) {
        rc = extend_by(p, weights, statics, wanted, count, err);
        weights_free(weights);
        weights = NULL;
        if (rc == 0)
            rc = weigh(p, wanted, count, &weights, err);
    }
    for (uint32_t i = 0; rc == 0 && i < pathmap_node_count(p->map); i++) {
        double share = weights_share(weights, i);
        if (share > 0 && resolver_expect(p->resolver, i, share) < 0)
            rc = error_memory(err);
    }
    resolver_settle(p->resolver);
    weights_free(weights);
    return rc;
}

/* The map is made anew before, for the functions that the static calls bring, and after. */
static int extend_map(struct pipeline *p, bool open, struct wanted *wanted, size_t count,
                      struct fathom_error *err)
{
    struct statics statics;
    int rc = statics_build(p->trie, p->images, &statics, err);
    if (rc < 0)
        return rc;
    rc = make_map(p, err);
    if (rc == 0)
        rc = open ? extend_open(p, &statics, wanted, count, err)
                  : extend_closed(p, &statics, wanted, count, err);
    statics_free(&statics);
    return rc;
}

static int infer_paths(struct pipeline *p, struct fathom_error *err)
{
    struct wanted *wanted;
    size_t count;
    double openness;
    if (openness_of(p->survey, p->trie, p->map, p->trained, &openness) < 0)
        return error_memory(err);
    /* Where nothing was learned, this run's own guesses would only confirm themselves. */
    uint32_t nodes = pathmap_node_count(p->map);
    bool open = nodes > 0 && nodes <= WEIGHTS_NODES && openness >= OPENNESS_LEAST;
    int rc = wanted_cids(p, open, &wanted, &count) < 0 ? error_memory(err) : 0;
    if (rc == 0 && count)
        rc = extend_map(p, open, wanted, count, err);
    free(wanted);
    return rc;
}

/* The model of coherence, taught by the recording. */
static int learn_coherence(struct pipeline *p, struct fathom_error *err)
{
    struct numbering functions = {0};
    p->model = coherence_new(p->resolver);
    p->smoother = p->model ? smoother_new(p->resolver, p->model, p->sink, p->sink_context) : NULL;
    int rc = p->smoother && numbering_make(&functions, p->trie, p->map) ? 0 : error_memory(err);
    struct expectation_input input = {.survey = p->survey,
                                      .functions = functions.to_map,
                                      .nodes = p->nodes,
                                      .resolver = p->resolver,
                                      .model = p->model,
                                      .rounds = p->options.no_em ? 0 : EXPECTATION_ROUNDS};
    if (rc == 0)
        rc = expectation_run(&input, err);
    numbering_clear(&functions);
    return rc;
}

/* A pass over the recording. */
static int run_pass(struct pipeline *p, struct reader *reader, order_sink *sink, struct fathom_error *err)
{
    int rc = begin_pass(p, err);
    return rc < 0 ? rc : reader_run(reader, sink, p, err);
}

static int find_bases(struct pipeline *p, struct reader *reader, struct fathom_error *err)
{
    int rc = stack_bases_ballot(p->bases, p->resolver, p->images, err);
    if (rc == 0)
        rc = run_pass(p, reader, vote, err);
    return rc < 0 ? rc : stack_bases_settle(p->bases, &p->summary.bases_voted, err);
}

int pipeline_run(struct pipeline *p, struct reader *reader, uint32_t event, const struct pathmap *map,
                 pipeline_sink *sink, void *context, struct fathom_error *err)
{
    p->event_count = reader_events(reader, &p->events);
    p->event = event;
    p->sink = sink;
    p->sink_context = context;
    p->trained = map;
    /* The map first: its hooked images shape the paths that are learned. */
    int rc = map ? trie_merge(p->trie, map, err) : 0;
    if (rc == 0)
        rc = run_pass(p, reader, pipeline_learn, err);
    if (rc == 0)
        rc = make_map(p, err);
    if (rc == 0 && p->base_unknown)
        rc = find_bases(p, reader, err);
    if (rc == 0 && !(p->options.no_automaton && p->options.no_temporal))
        rc = run_pass(p, reader, survey, err);
    if (rc == 0 && !p->options.no_automaton)
        rc = infer_paths(p, err);
    if (rc == 0 && !p->options.no_temporal)
        rc = learn_coherence(p, err);
    if (rc == 0) {
        p->inside = inside_new(p->resolver);
        p->narrow = narrow_new(p->resolver);
        rc = p->inside && p->narrow ? run_pass(p, reader, resolve, err) : error_memory(err);
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
