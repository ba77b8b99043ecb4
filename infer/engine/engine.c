/* engine.c - runs the steps in order; see engine.h. */
#include "infer/engine/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "infer/engine/list_cids.h"
#include "infer/engine/passes.h"
#include "infer/engine/reading.h"
#include "infer/engine/relearn.h"
#include "infer/engine/resolve.h"
#include "infer/engine/vote.h"

#define VALIDATED_LEAST 6                    /* stacks: with fewer, no cross-validation */
#define VALIDATED_STEPS (UINT64_C(80) << 20) /* of work, in all folds together */
#define VALIDATED_MOST  200000               /* records: a fold reads only the first ones */
#define VALIDATED_SHARE 0.01                 /* cross-validation needs this share of inferred samples */

struct engine {
    struct image_cache *images;
    const struct log *log;
    struct engine_options options;
    struct reading *reading;
    bool owns_reading;          /* else the reading is another engine's */
    struct relearned relearned; /* for an event after the first, or a fold; else empty */
    struct trie *trie;          /* the learner's, or that of `relearned` */
    struct observer observer;
    struct survey *survey;
    struct unread *unread;
    struct builds *builds;           /* NULL: no map was given */
    struct fit *fit;                 /* used to resolve samples; NULL before engine_run() */
    struct calibration *calibration; /* NULL in a fold */
    uint64_t validation_steps;
    struct trained trained; /* how well the map's training predicts itself; set if by_training */
    bool by_training; /* probabilities are calibrated by `trained`: too few stacks of the run were unwound */
};

static bool make_parts(struct engine *p)
{
    struct learner *learner = p->reading->learner;
    p->survey = survey_new();
    p->unread = unread_new(p->images);
    p->trie = learner->trie;
    p->observer = (struct observer){.images = p->images,
                                    .log = p->log,
                                    .learner = learner,
                                    .calls = p->reading->calls,
                                    .numbers = trainer_numbers(learner->trainer),
                                    .times = !p->options.no_temporal,
                                    .own_dumps = p->options.own_dumps};
    return observer_init(&p->observer) && p->survey && p->unread;
}

static struct engine *engine_over(struct reading *reading, bool owned, const struct engine_options *options,
                                  const struct log *log)
{
    struct engine *p = reading ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        if (owned)
            reading_free(reading);
        return NULL;
    }
    *p = (struct engine){.images = reading->in.images,
                         .log = log,
                         .options = *options,
                         .reading = reading,
                         .owns_reading = owned};
    return whole_or_free(p, make_parts(p), engine_free);
}

struct engine *engine_new(struct image_cache *images, const struct engine_options *options,
                          const struct log *log)
{
    const struct reading_input input = {.images = images,
                                        .log = log,
                                        .progress = options->progress,
                                        .file = options->file,
                                        .callers = !options->own_dumps,
                                        .from = options->learning,
                                        .hold_back = options->hold_back};
    return engine_over(reading_new(&input), true, options, log);
}

struct engine *engine_beside(const struct engine *first, const struct engine_options *options,
                             const struct log *log)
{
    return engine_over(first->reading, false, options, log);
}

void engine_free(struct engine *p)
{
    if (!p)
        return;
    unread_free(p->unread);
    builds_free(p->builds);
    fit_free(p->fit);
    calibration_free(p->calibration);
    observer_clear(&p->observer);
    survey_free(p->survey);
    relearned_clear(&p->relearned);
    if (p->owns_reading)
        reading_free(p->reading);
    free(p);
}

int engine_begin_live(struct engine *p, const struct event *events, size_t count, struct fathom_error *err)
{
    return reading_begin(p->reading, events, count, 0, err);
}

int engine_learn(void *engine, const struct record *record, struct fathom_error *err)
{
    struct engine *p = engine;
    return reading_take(p->reading, record, err);
}

/* Drops what was read, before it is read again. */
static int start_over(struct engine *p, struct fathom_error *err)
{
    bool late = image_cache_is_late(p->images);
    observer_clear(&p->observer);
    survey_free(p->survey);
    unread_free(p->unread);
    p->observer = (struct observer){0};
    p->survey = NULL;
    p->unread = NULL;
    int rc = reading_reset(p->reading, err);
    if (rc == 0 && late && !image_cache_close_all(p->images))
        rc = error_memory(err);
    return rc == 0 && !make_parts(p) ? error_memory(err) : rc;
}

int engine_read(struct engine *p, struct reader *reader, uint32_t event, const struct pathmap *map,
                struct fathom_error *err)
{
    int rc = p->owns_reading && reading_lacks_names(p->reading, reader) ? start_over(p, err) : 0;
    return rc == 0 ? reading_run(p->reading, reader, event, map, err) : rc;
}

const struct mapped_files *engine_files(const struct engine *p)
{
    return p->reading->files;
}

struct changes {
    order_sink *sink;
    void *context;
};

/* An observation_sink. */
static int pass_change(void *changes, const struct observation *o, struct fathom_error *err)
{
    const struct changes *c = changes;
    return o->record->kind == RECORD_SAMPLE ? 0 : c->sink(c->context, o->record, err);
}

int engine_changes(struct engine *p, order_sink *sink, void *context, struct fathom_error *err)
{
    if (observations_cut(p->reading->observations))
        return reader_run(p->reading->reader, sink, context, err);
    return observations_run(p->reading->observations, 0, pass_change, &(struct changes){sink, context}, err);
}

/* Reads the recording. Sets *map to NULL if it is a map of other programs: its paths through the C library would be taken for
 * paths of this run. Then two things have to be read again: paths that the map gave their shape, and images for which the
 * recording or the map named another file of the same build (with the names that a stripped one lacks) only after they were
 * opened. */
static int read_recording(struct engine *p, const struct engine_input *input, const struct pathmap **map,
                          struct fathom_error *err)
{
    const struct pathmap *shape = input->kept ? NULL : input->map;
    *map = input->map;
    int rc = engine_read(p, input->reader, input->event, shape, err);
    int foreign = rc == 0 && shape ? mapped_files_foreign(p->reading->files, shape) : 0;
    if (foreign > 0)
        *map = NULL;
    if (foreign < 0 || (rc == 0 && *map && mapped_files_also(p->reading->files, *map, p->images) < 0))
        rc = error_memory(err);
    bool useless = (foreign > 0 && pathmap_hooked(shape)) || image_cache_is_late(p->images);
    if (rc < 0 || !useless || !p->owns_reading)
        return rc;
    rc = start_over(p, err);
    return rc == 0 ? engine_read(p, input->reader, input->event, foreign ? NULL : shape, err) : rc;
}

static struct passes passes_of(struct engine *p)
{
    return (struct passes){p->reading, &p->observer, p->options.progress,
                           p->options.validation ? VALIDATED_MOST : 0};
}

/* Gives the engine a trie of its own: the reading's contains the paths that the first engine inferred. */
static int relearn_paths(struct engine *p, struct held_out *held, struct fathom_error *err)
{
    const struct passes passes = passes_of(p);
    int rc = relearn(&passes, held, &p->relearned, err);
    p->trie = p->relearned.trie;
    p->observer.copies = p->relearned.copies;
    p->observer.numbers = p->relearned.numbers;
    return rc;
}

/* Sets up a run. given: the caller's map or NULL; map: the same, or NULL if it is not used. */
static int begin_run(struct engine *p, const struct pathmap *given, const struct pathmap *map,
                     struct fathom_error *err)
{
    const struct learner *learner = p->reading->learner;
    struct fit_input input = {.images = p->images,
                              .calls = p->reading->calls,
                              .trie = p->trie,
                              .numbers = p->observer.numbers,
                              .settings = p->observer.settings,
                              .survey = p->survey,
                              .trained = map,
                              .no_em = p->options.no_em,
                              .brief = p->options.validation,
                              .progress = p->options.progress};
    p->fit = fit_new(&input);
    p->builds = given ? builds_new(given, p->log) : NULL;
    if (!p->fit || (given && !p->builds))
        return error_memory(err);
    if (p->relearned.trie)
        fit_own(p->fit, p->relearned.samples, p->relearned.nodes);
    else
        fit_own(p->fit, learner->samples, learner->sample_nodes);
    if (map && !p->relearned.trie && mapped_files_name(p->reading->files, map, p->trie) < 0)
        return error_memory(err);
    return map ? trie_merge(p->trie, map, err) : 0;
}

static int survey_recording(struct engine *p, const struct passes *passes, struct fathom_error *err)
{
    const struct pathmap *map = fit_pathmap(p->fit);
    struct table *roots = list_cids_roots(map);
    struct cid_lister lister = {.observer = &p->observer,
                                .survey = p->survey,
                                .unread = p->unread,
                                .open_programs = !p->options.no_automaton,
                                .map = map,
                                .roots = roots};
    int rc = roots ? passes_run(passes, "surveying", false, list_cids, &lister, err) : error_memory(err);
    table_free(roots);
    return rc;
}

/* Runs the steps that produce the map used to resolve samples. */
static int fit_run(struct engine *p, const struct passes *passes, struct fathom_error *err)
{
    struct reading *reading = p->reading;
    int rc = fit_map(p->fit, err);
    if (rc == 0 && reading->learner->base_unknown && !reading->voted)
        rc = vote_bases(passes, p->fit, !p->options.no_automaton, &reading->bases_voted, err);
    reading->voted = true;
    if (rc == 0)
        rc = survey_recording(p, passes, err);
    if (rc == 0)
        rc = fit_surveyed(p->fit, err);
    if (rc == 0 && !p->options.no_automaton)
        rc = fit_paths(p->fit, err);
    if (rc == 0 && !p->options.no_temporal)
        rc = fit_coherence(p->fit, err);
    return rc;
}

static int resolve_samples(struct engine *p, resolve_sink *sink, void *context, struct fathom_error *err)
{
    const struct passes passes = passes_of(p);
    struct resolve *step = resolve_new(&(struct resolve_input){.observer = &p->observer,
                                                               .fit = p->fit,
                                                               .unread = p->unread,
                                                               .builds = p->builds,
                                                               .calibration = p->calibration,
                                                               .sink = sink,
                                                               .context = context});
    if (!step)
        return error_memory(err);
    int rc = passes_run(&passes, "resolving", p->options.whole_samples && !p->options.validation,
                        resolve_take, step, err);
    if (rc == 0)
        rc = resolve_flush(step, err);
    resolve_free(step);
    return rc;
}

/* A fold of cross-validation, and the calibration that gets its results. */
struct validation {
    struct engine *fold;
    struct held_out *held;
    struct calibration *calibration;
};

/* A resolve_sink. */
static int compare_held(void *validation, const struct process *process, const struct sample *sample,
                        const struct resolved *resolved, struct fathom_error *err)
{
    const struct validation *v = validation;
    const struct pathmap *map = fit_pathmap(v->fold->fit);
    (void)process;
    struct held_stack stack;
    if (resolved->kind == RESOLVED_UNKNOWN)
        return 0;
    int right = held_out_agrees(v->held, sample, map, resolved->node, &stack);
    if (right < 0)
        return right == -ENOMEM ? error_memory(err) : 0;
    uint32_t unseen;
    pathmap_unseen(map, resolved->node, &unseen);
    return calibration_note(v->calibration, resolved, unseen, &stack, right) < 0 ? error_memory(err) : 0;
}

/* Whether cross-validation is worth its time: enough samples are inferred, and enough stacks were unwound. */
static bool is_validated(const struct engine *p)
{
    const struct learner *l = p->reading->learner;
    return !p->options.no_automaton && l->from != LEARN_NOTHING && l->learned >= VALIDATED_LEAST &&
           fit_found(p->fit) >= VALIDATED_SHARE;
}

/* Infers the paths of some unwound stacks from the others. Deducts its cost from the work. */
static int validate_fold(struct engine *p, uint32_t event, const struct pathmap *map, unsigned number,
                         struct work *work, struct fathom_error *err)
{
    struct engine_options options = p->options;
    options.validation = work->left;
    struct validation v = {engine_beside(p, &options, NULL), held_out_new(p->reading->learner->trie),
                           p->calibration};
    int rc = v.fold && v.held ? 0 : error_memory(err);
    if (rc == 0) {
        const struct passes passes = passes_of(v.fold);
        v.fold->observer.event = event;
        v.fold->observer.folded = true;
        v.fold->observer.fold = number;
        rc = relearn_paths(v.fold, v.held, err);
        if (rc == 0)
            rc = begin_run(v.fold, NULL, map, err);
        if (rc == 0)
            rc = fit_run(v.fold, &passes, err);
        if (rc == 0)
            rc = resolve_samples(v.fold, compare_held, &v, err);
        work_take(work, v.fold->fit ? fit_steps(v.fold->fit) : 0);
    }
    engine_free(v.fold);
    held_out_free(v.held);
    return rc;
}

/* Runs folds until each stack was held out once, or the work is used up. A fold with less work than the one before is not run:
 * it would measure what it had no time for. */
static int validate_folds(struct engine *p, const struct pathmap *map, struct fathom_error *err)
{
    int rc = 0;
    uint64_t allowed = fit_allowed(p->fit), before, done = 0;
    struct work work = {allowed < VALIDATED_STEPS ? allowed : VALIDATED_STEPS};
    for (unsigned number = 0; rc == 0 && number < HELD_OUT_FOLDS && work.left && work.left >= done;
         number++) {
        before = work.left;
        rc = validate_fold(p, p->observer.event, map, number, &work, err);
        done = before - work.left;
        p->validation_steps += done;
    }
    calibration_settle(p->calibration);
    return rc;
}

/* If too few stacks of the run were unwound to judge by, uses how well the map's training predicts itself. */
static void use_training(struct engine *p, const struct pathmap *map)
{
    if (!map || p->reading->learner->learned >= VALIDATED_LEAST)
        return;
    p->trained = trained_of(map);
    p->by_training = true;
    calibration_train(p->calibration, &p->trained);
}

int engine_run(struct engine *p, const struct engine_input *input, resolve_sink *sink, void *context,
               struct fathom_error *err)
{
    const struct pathmap *used;
    int rc = read_recording(p, input, &used, err);
    const struct passes passes = passes_of(p);
    p->observer.event = input->event;
    image_calls_next_round(p->reading->calls);
    p->calibration = calibration_new();
    if (rc == 0 && !p->calibration)
        rc = error_memory(err);
    if (rc == 0 && !p->owns_reading)
        rc = relearn_paths(p, NULL, err);
    if (rc == 0)
        rc = begin_run(p, input->kept ? NULL : input->map, used, err);
    if (rc == 0)
        rc = fit_run(p, &passes, err);
    if (rc == 0 && is_validated(p))
        rc = validate_folds(p, used, err);
    if (rc == 0)
        use_training(p, used);
    if (rc == 0)
        rc = resolve_samples(p, sink, context, err);
    if (rc == 0 && p->builds && builds_foreign(p->builds))
        log_write(p->log, LOG_WARNING,
                  "the map knows none of the programs in this recording: it is of other programs, and no use "
                  "here");
    return rc;
}

bool engine_stale(const struct engine *p)
{
    return p->builds && (builds_stale(p->builds) || builds_foreign(p->builds));
}

const struct pathmap *engine_map(const struct engine *p)
{
    return p->fit ? fit_pathmap(p->fit) : NULL;
}

void engine_summary(const struct engine *p, struct engine_summary *out)
{
    *out = (struct engine_summary){
        .learned = p->reading->learner->learned,
        .walks_compared = p->reading->learner->walks_compared,
        .walks_differing = p->reading->learner->walks_differing,
        .inferred = p->fit ? *fit_inferred(p->fit) : (struct extend_summary){0},
        .steps = p->validation_steps + (p->fit ? fit_steps(p->fit) : 0),
        .bases_voted = p->reading->bases_voted,
        .trained = p->by_training ? &p->trained : NULL,
    };
    out->unread_count = unread_names(p->unread, &out->unread);
}
