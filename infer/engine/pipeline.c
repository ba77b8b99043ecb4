/* pipeline.c - the passes over a recording; see pipeline.h. */
#include "infer/engine/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "infer/samples/builds.h"
#include "infer/model/expectation.h"
#include "infer/model/fit.h"
#include "infer/model/inside.h"
#include "infer/model/narrow.h"
#include "infer/samples/run_time.h"
#include "infer/contexts/unread.h"

struct pipeline {
    struct image_cache *images;
    const struct log *log;
    struct pipeline_options options;
    struct processes *processes; /* of the pass that runs */
    struct learner *learner;
    struct settings *settings;
    struct fit *fit;           /* what is resolved with; NULL before pipeline_run() */
    struct smoother *smoother; /* NULL: no smoothing */
    struct inside *inside;
    struct narrow *narrow;
    struct unread *unread;
    struct candidate_path shown[CANDIDATES_MAX]; /* deliver() */
    struct candidate_path own;                   /* resolve_own() */
    size_t own_at;                               /* in the learner's list, in the pass that runs */
    struct survey *survey;
    struct run_times *run_times; /* of the pass that runs; NULL before the first */
    struct builds *builds;       /* NULL: no map was given */
    const struct image *noted;   /* the last one noted in builds */
    const struct event *events;
    uint32_t event; /* the one to resolve */
    pipeline_sink *sink;
    void *sink_context;
    struct pipeline_summary summary;
    const char *pass_name; /* of the pass that runs */
    order_sink *pass_sink;
    uint64_t pass_records, all_records; /* read so far in this pass; in all of the last one (0: none yet) */
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
    p->learner = learner_new(options->learning, options->hold_back);
    p->survey = survey_new();
    p->settings = settings_new();
    p->unread = unread_new(images);
    if (!p->processes || !p->learner || !p->survey || !p->settings || !p->unread) {
        pipeline_free(p);
        return NULL;
    }
    return p;
}

void pipeline_free(struct pipeline *p)
{
    if (!p)
        return;
    unread_free(p->unread);
    builds_free(p->builds);
    smoother_free(p->smoother);
    inside_free(p->inside);
    narrow_free(p->narrow);
    fit_free(p->fit);
    settings_free(p->settings);
    learner_free(p->learner);
    processes_free(p->processes);
    survey_free(p->survey);
    run_times_free(p->run_times);
    free(p);
}

static int learn(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    return learner_take(p->learner, p->processes, record, err);
}

/* Starts a pass, with processes as they were before the first record. */
static int begin_pass(struct pipeline *p, struct fathom_error *err)
{
    processes_free(p->processes);
    run_times_free(p->run_times);
    p->processes = processes_new(p->images, p->log);
    p->run_times = run_times_new(attr_is_clock(&p->events[p->event].attr) ? p->event : RUN_TIME_NO_CLOCK);
    audits_begin(p->learner->audits);
    p->own_at = 0;
    settings_begin_pass(p->settings);
    return p->processes && p->run_times ? stack_bases_begin(p->learner->bases, err) : error_memory(err);
}

static int vote(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    struct process *process = process_find(p->processes, sample->pid);
    return process && sample->has_regs ? stack_bases_vote(p->learner->bases, process, sample, err) : 0;
}

/* Opens a file that is mapped into a process with samples: paths can begin in the program or the C library
 * even if no sample fell there. */
static void open_mapped(struct pipeline *p, const struct record *record)
{
    struct process *process = process_find(p->processes, record->pid);
    if (process && table_find(p->learner->ran, record->pid))
        process_mapping(process, record->mmap.address);
}

/* Collects votes on main threads' bases from the binaries' code; opens all their files. */
static int code_vote(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    const struct sample *sample = &record->sample;
    int rc = stack_bases_record(p->learner->bases, record, err);
    if (rc == 0 && record->kind != RECORD_SAMPLE)
        rc = processes_apply(p->processes, record, err);
    if (rc == 0 && record->kind == RECORD_MMAP)
        open_mapped(p, record);
    if (rc < 0 || record->kind != RECORD_SAMPLE)
        return rc;
    struct process *process = process_find(p->processes, sample->pid);
    struct place place;
    uint64_t cfa;
    enum unknown_reason reason;
    if (!process || process_has_stack(process, sample->tid) ||
        !cid_cfa(process, sample, &place, &cfa, &reason))
        return 0;
    uint32_t function = trainer_function(p->learner->trainer, &place);
    return function == TRIE_NONE ? error_memory(err)
                                 : stack_bases_code_vote(p->learner->bases, sample, function, cfa, err);
}

/* What a record means to the passes after learning. */
struct taken {
    bool sample;     /* of the event to resolve */
    uint32_t anchor; /* an audit sample's path, a node of the trie; TRIE_NONE: no anchor */
    uint32_t own;    /* the same for another sample with a dump, where it is to be used */
    struct process *process;
    struct run_time run; /* the strand, and how long it ran if that is needed */
    uint32_t setting;
};

/* Applies a record. Fills *out if it is a sample to resolve or an anchor, and gives its stack the base that
 * earlier passes found. */
static int take_sample(struct pipeline *p, const struct record *record, struct taken *out,
                       struct fathom_error *err)
{
    *out = (struct taken){.anchor = TRIE_NONE, .own = TRIE_NONE};
    int rc = p->learner->base_unknown ? stack_bases_record(p->learner->bases, record, err) : 0;
    if (rc < 0 || record->kind != RECORD_SAMPLE)
        return rc < 0 ? rc : processes_apply(p->processes, record, err);
    const struct sample *sample = &record->sample;
    out->sample = sample->event == p->event || audits_held(p->learner->audits, sample);
    if (audits_is(p->learner->audits, sample)) {
        uint32_t anchor = audits_next(p->learner->audits);
        out->anchor = out->sample ? TRIE_NONE : anchor;
    } else if (sample->stack) {
        const struct learner *l = p->learner;
        uint32_t own = p->own_at < l->own_count ? l->own[p->own_at++] : TRIE_NONE;
        out->own = p->options.own_dumps ? own : TRIE_NONE;
    }
    if (!out->sample && out->anchor == TRIE_NONE)
        return 0;
    out->process = process_find(p->processes, sample->pid);
    if (p->learner->base_unknown && out->process && sample->has_regs)
        rc = stack_bases_apply(p->learner->bases, out->process, sample, err);
    if (rc == 0 && out->process && sample->has_regs &&
        settings_of(p->settings, p->learner->origins, out->process, sample, &out->setting) < 0)
        rc = error_memory(err);
    out->run.strand = process_strand(out->process, sample);
    if (rc == 0 && !p->options.no_temporal && run_times_pass(p->run_times, sample, &out->run) < 0)
        rc = error_memory(err);
    return rc;
}

/* Opens the process's program, as its paths begin there. */
static void open_program(const struct process *process)
{
    const struct build_id *build_id;
    const struct mapping *mapping;
    for (size_t i = 0; (mapping = process_mapping_at(process, i, &build_id)); i++) {
        if (mapping->path[0] != '/')
            continue;
        process_mapping(process, mapping->start);
        return;
    }
}

/* Notes the CID of a sample and of an anchor. */
static int survey(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    struct taken taken;
    uint32_t settings = settings_count(p->settings);
    int rc = take_sample(p, record, &taken, err);
    /* With an empty map, the binaries are the only source of paths. */
    if (rc == 0 && record->kind == RECORD_MMAP && !p->options.no_automaton &&
        pathmap_node_count(pipeline_map(p)) == 0)
        open_mapped(p, record);
    if (rc == 0 && settings_count(p->settings) > settings && !p->options.no_automaton)
        open_program(taken.process);
    if (rc < 0 || (!taken.sample && taken.anchor == TRIE_NONE))
        return rc;
    if (unread_note(p->unread, taken.process) < 0)
        return error_memory(err);
    struct cid cid = cid_of_sample(taken.process, &record->sample);
    if (cid.reason != UNKNOWN_NOT || cid.height > UINT32_MAX)
        return 0;
    struct wanted wanted = {trainer_function(p->learner->trainer, &cid.place), (uint32_t)cid.height,
                            taken.setting, 0};
    if (wanted.function == TRIE_NONE || survey_add(p->survey, taken.run, &wanted, taken.anchor) < 0)
        return error_memory(err);
    return 0;
}

static int resolve_anchor(struct pipeline *p, const struct taken *taken, struct fathom_error *err)
{
    uint32_t state;
    int rc = p->smoother ? expectation_anchor(fit_resolver(p->fit), fit_model(p->fit), taken->setting,
                                              fit_node(p->fit, taken->anchor), &state)
                         : 0;
    if (rc < 0)
        return error_memory(err);
    return rc ? smoother_anchor(p->smoother, taken->run, state, err) : 0;
}

/* Removes candidates that only inference knows from the answer to a sample whose path may run through code
 * that could not be read (unread.h). */
static void hide_unread(struct pipeline *p, struct resolved *r)
{
    if (r->kind == RESOLVED_UNKNOWN) {
        r->reason = r->reason == UNKNOWN_CONTEXT ? UNKNOWN_UNREAD : r->reason;
        return;
    }
    struct pathmap_node best = pathmap_node(pipeline_map(p), r->node);
    if (r->kind == RESOLVED_INFERRED && best.parent != PATHMAP_NONE) {
        *r = (struct resolved){
            .kind = RESOLVED_UNKNOWN, .reason = UNKNOWN_UNREAD, .cid = r->cid, .node = PATHMAP_NONE};
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->posterior_count; i++) {
        struct pathmap_node node = pathmap_node(pipeline_map(p), r->posterior[i].node);
        if (i == 0 || node.self || node.passes)
            p->shown[kept++] = r->posterior[i];
    }
    r->posterior = p->shown;
    r->posterior_count = kept;
}

/* A smoother_sink (context: the pipeline): passes a sample's answer on to the caller's sink. */
static int deliver(void *pipeline, const struct process *process, const struct sample *sample,
                   const struct resolved *resolved, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    struct resolved told = *resolved;
    if (told.unread)
        hide_unread(p, &told);
    return p->sink(p->sink_context, process, sample, &told, err);
}

/* An order_sink (context: struct builds): notes the images that processes map. */
static int note_mapped(void *builds, const struct record *record, struct fathom_error *err)
{
    if (record->kind != RECORD_MMAP || !record->mmap.executable)
        return 0;
    struct build_id id = {.size = record->mmap.build_id_size};
    memcpy(id.bytes, record->mmap.build_id, sizeof record->mmap.build_id);
    return builds_note(builds, record->mmap.path, &id) < 0 ? error_memory(err) : 0;
}

/* Compares an image with the map that was given: the one that the sample ran in, by its file's build-id, or one
 * that a process with samples maps, by the recorded build-id. */
static int note_build(struct pipeline *p, const struct record *record, const struct image *ran)
{
    if (!p->builds)
        return 0;
    if (ran && ran != p->noted) {
        p->noted = ran;
        return builds_note(p->builds, image_path(ran), image_build_id(ran));
    }
    bool mapped = record->kind == RECORD_MMAP && table_find(p->learner->ran, record->pid);
    return mapped ? note_mapped(p->builds, record, NULL) : 0;
}

/* The path that the sample's own stack showed. */
static int resolve_own(struct pipeline *p, const struct taken *taken, const struct sample *sample,
                       struct resolved *resolved, struct fathom_error *err)
{
    struct taken anchor = *taken;
    anchor.anchor = taken->own;
    p->own = (struct candidate_path){.node = fit_node(p->fit, taken->own), .probability = 1};
    *resolved = (struct resolved){.kind = RESOLVED_PRECISE,
                                  .cid = resolved->cid,
                                  .node = p->own.node,
                                  .paths = 1,
                                  .probability = 1,
                                  .posterior = &p->own,
                                  .posterior_count = 1};
    int rc = resolve_anchor(p, &anchor, err);
    return rc < 0 ? rc : deliver(p, taken->process, sample, resolved, err);
}

static int resolve(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    struct taken taken;
    struct resolved resolved;
    int rc = take_sample(p, record, &taken, err);
    if (rc == 0 && note_build(p, record, NULL) < 0)
        return error_memory(err);
    const struct sample *sample = &record->sample;
    if (rc == 0 && taken.anchor != TRIE_NONE)
        return resolve_anchor(p, &taken, err);
    if (rc < 0 || !taken.sample)
        return rc;
    rc = resolver_resolve(fit_resolver(p->fit), taken.process, sample, taken.setting, &resolved, err);
    if (rc == 0)
        rc = inside_resolved(p->inside, &resolved, err);
    if (rc == 0)
        rc = narrow_resolved(p->narrow, taken.process, sample, &resolved, err);
    if (rc == 0 &&
        (unread_note(p->unread, taken.process) < 0 || note_build(p, record, resolved.cid.place.image) < 0))
        rc = error_memory(err);
    int unread = rc == 0 ? unread_concerns(p->unread, taken.process, &resolved) : rc;
    if (unread < 0)
        return rc < 0 ? rc : error_memory(err);
    if (taken.own != TRIE_NONE && taken.process)
        return resolve_own(p, &taken, sample, &resolved, err);
    resolved.unread = unread;
    return p->smoother ? smoother_add(p->smoother, taken.run, taken.process, sample, &resolved, err)
                       : deliver(p, taken.process, sample, &resolved, err);
}

bool pipeline_stale(const struct pipeline *p)
{
    return p->builds && (builds_stale(p->builds) || builds_foreign(p->builds));
}

#define SHOW_RECORDS 4096u /* between two updates of the progress line */

static int take_record(void *pipeline, const struct record *record, struct fathom_error *err)
{
    struct pipeline *p = pipeline;
    if (p->pass_records++ % SHOW_RECORDS == 0)
        progress_show(p->options.progress, p->pass_name, p->pass_records, p->all_records);
    return p->pass_sink(p, record, err);
}

/* Runs a pass over the recording. name: for the progress line. */
static int run_pass(struct pipeline *p, struct reader *reader, const char *name, order_sink *sink,
                    struct fathom_error *err)
{
    int rc = begin_pass(p, err);
    p->pass_name = name;
    p->pass_sink = sink;
    p->pass_records = 0;
    if (rc == 0)
        rc = reader_run(reader, take_record, p, err);
    p->all_records = p->pass_records;
    return rc;
}

/* Finds main threads' bases from the binaries' code, when the votes by the map left one unknown. */
static int find_code_bases(struct pipeline *p, struct reader *reader, struct fathom_error *err)
{
    struct statics statics;
    int rc = run_pass(p, reader, "finding stacks by code", code_vote, err);
    if (rc == 0)
        rc = statics_build(p->learner->trie, p->images, NULL, &statics, err);
    if (rc < 0)
        return rc;
    struct code_heights *heights = code_heights_new(&statics, trie_function_count(p->learner->trie));
    rc = heights ? stack_bases_code_settle(p->learner->bases, heights, &p->summary.bases_voted, err)
                 : error_memory(err);
    code_heights_free(heights);
    statics_free(&statics);
    return rc < 0 ? rc : fit_map(p->fit, err);
}

static int find_bases(struct pipeline *p, struct reader *reader, struct fathom_error *err)
{
    int rc = stack_bases_ballot(p->learner->bases, fit_resolver(p->fit), p->images, err);
    if (rc == 0)
        rc = run_pass(p, reader, "finding stacks", vote, err);
    if (rc == 0)
        rc = stack_bases_settle(p->learner->bases, &p->summary.bases_voted, err);
    bool code = !p->options.no_automaton && stack_bases_want_code(p->learner->bases);
    return rc == 0 && code ? find_code_bases(p, reader, err) : rc;
}

/* Makes the smoother, with a model of coherence learned from the recording. */
static int fit_smoother(struct pipeline *p, struct fathom_error *err)
{
    int rc = fit_coherence(p->fit, err);
    if (rc < 0)
        return rc;
    p->smoother = smoother_new(fit_resolver(p->fit), fit_model(p->fit), deliver, p);
    return p->smoother ? 0 : error_memory(err);
}

/* Sets *map to NULL if it is of other programs than those that the recording's processes map
 * (builds_foreign()): its paths through the C library would be taken for paths of this run. */
static int leave_foreign(struct reader *reader, const struct pathmap **map, struct fathom_error *err)
{
    if (!*map)
        return 0;
    struct builds *mapped = builds_new(*map, NULL);
    int rc = mapped ? reader_run(reader, note_mapped, mapped, err) : error_memory(err);
    if (rc == 0 && builds_foreign(mapped))
        *map = NULL;
    builds_free(mapped);
    return rc;
}

/* Makes what a run needs. given: the caller's map or NULL; map: the same, or NULL if it is not used. */
static int begin_run(struct pipeline *p, const struct pathmap *given, const struct pathmap *map,
                     struct fathom_error *err)
{
    struct fit_input input = {.images = p->images,
                              .trie = p->learner->trie,
                              .numbers = trainer_numbers(p->learner->trainer),
                              .settings = p->settings,
                              .survey = p->survey,
                              .audits = p->learner->audits,
                              .trained = map,
                              .no_em = p->options.no_em,
                              .progress = p->options.progress};
    p->fit = fit_new(&input);
    p->builds = given ? builds_new(given, p->log) : NULL;
    if (!p->fit || (given && !p->builds))
        return error_memory(err);
    /* The map first: its hooked images shape the paths that are learned. */
    return map ? trie_merge(p->learner->trie, map, err) : 0;
}

/* The passes up to the map that samples are resolved with. */
static int learn_and_fit(struct pipeline *p, struct reader *reader, struct fathom_error *err)
{
    int rc = run_pass(p, reader, "learning", learn, err);
    if (rc == 0)
        rc = fit_map(p->fit, err);
    if (rc == 0 && p->learner->base_unknown)
        rc = find_bases(p, reader, err);
    if (rc == 0)
        rc = run_pass(p, reader, "surveying", survey, err);
    if (rc == 0)
        rc = fit_surveyed(p->fit, err);
    if (rc == 0 && !p->options.no_automaton)
        rc = fit_paths(p->fit, err);
    if (rc == 0 && !p->options.no_temporal)
        rc = fit_smoother(p, err);
    return rc;
}

static int resolve_all(struct pipeline *p, struct reader *reader, struct fathom_error *err)
{
    p->inside = inside_new(fit_resolver(p->fit));
    p->narrow = narrow_new(fit_resolver(p->fit));
    if (!p->inside || !p->narrow)
        return error_memory(err);
    int rc = run_pass(p, reader, "resolving", resolve, err);
    return rc == 0 && p->smoother ? smoother_flush(p->smoother, err) : rc;
}

int pipeline_run(struct pipeline *p, const struct pipeline_input *input, pipeline_sink *sink, void *context,
                 struct fathom_error *err)
{
    struct reader *reader = input->reader;
    size_t count = reader_events(reader, &p->events);
    audits_events(p->learner->audits, p->events, count, input->event);
    p->event = input->event;
    p->sink = sink;
    p->sink_context = context;
    image_cache_kernel(p->images, reader_kernel(reader));
    const struct pathmap *used = input->map;
    int rc = leave_foreign(reader, &used, err);
    if (rc == 0)
        rc = begin_run(p, input->map, used, err);
    if (rc == 0)
        rc = learn_and_fit(p, reader, err);
    if (rc == 0)
        rc = resolve_all(p, reader, err);
    if (rc == 0 && p->builds && builds_foreign(p->builds))
        log_write(p->log, LOG_WARNING,
                  "the map knows none of the programs in this recording: it is of other programs, and no use "
                  "here");
    return rc;
}

const struct pathmap *pipeline_map(const struct pipeline *p)
{
    return p->fit ? fit_pathmap(p->fit) : NULL;
}

void pipeline_summary(const struct pipeline *p, struct pipeline_summary *out)
{
    *out = p->summary;
    out->learned = p->learner->learned;
    out->inferred = p->fit ? *fit_inferred(p->fit) : (struct extend_summary){0};
    out->unread_count = unread_names(p->unread, &out->unread);
}
