/* engine.c - runs the steps in order; see engine.h. */
#include "infer/engine/engine.h"

#include <stdlib.h>

#include "infer/engine/list_cids.h"
#include "infer/engine/mapped_files.h"
#include "infer/engine/passes.h"
#include "infer/engine/resolve.h"
#include "infer/engine/vote.h"

#define VALIDATED_LEAST 6                    /* stacks */
#define VALIDATED_STEPS (UINT64_C(80) << 20) /* of work, in all folds */
#define OF_VALIDATION   2      /* the share of the work that was allowed for paths: 1 in so many */
#define VALIDATED_MOST  200000 /* records: the first ones */
#define VALIDATED_SHARE 0.01   /* of the samples are inferred */

struct engine {
    struct image_cache *images;
    const struct log *log;
    struct engine_options options;
    struct learner *learner;
    struct observer observer;
    struct survey *survey;
    struct unread *unread;
    struct builds *builds;           /* NULL: no map was given */
    struct fit *fit;                 /* used to resolve samples; NULL before engine_run() */
    struct calibration *calibration; /* a fold's is that of the engine it is for */
    struct image_calls *calls;       /* likewise; NULL before engine_run() */
    struct proved *proved;           /* likewise; NULL: no samples have call chains */
    uint64_t bases_voted;
    uint64_t validation_steps;
    uint64_t samples;       /* of the event, that learning saw */
    uint64_t known;         /* those of them whose own stacks tell their paths */
    struct trained trained; /* the map, which alone tells how far paths can be believed */
    bool by_training;       /* it does */
    bool learned;           /* live: the records went to engine_learn() */
};

struct engine *engine_new(struct image_cache *images, const struct engine_options *options,
                          const struct log *log)
{
    struct engine *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->images = images;
    p->options = *options;
    p->log = log;
    p->learner = learner_new(options->learning, options->hold_back);
    if (p->learner && options->validation && !(p->learner->held = held_out_new(options->fold))) {
        learner_free(p->learner);
        p->learner = NULL;
    }
    p->survey = survey_new();
    p->unread = unread_new(images);
    p->observer = (struct observer){.images = images,
                                    .log = log,
                                    .learner = p->learner,
                                    .times = !options->no_temporal,
                                    .own_dumps = options->own_dumps};
    if (!observer_init(&p->observer) || !p->learner || !p->survey || !p->unread) {
        engine_free(p);
        return NULL;
    }
    return p;
}

void engine_free(struct engine *p)
{
    if (!p)
        return;
    unread_free(p->unread);
    builds_free(p->builds);
    fit_free(p->fit);
    if (!p->options.validation) {
        calibration_free(p->calibration);
        proved_free(p->proved);
        image_calls_free(p->calls);
    }
    observer_clear(&p->observer);
    learner_free(p->learner);
    survey_free(p->survey);
    free(p);
}

static int learn(void *engine, const struct record *record, struct fathom_error *err)
{
    struct engine *p = engine;
    const struct learner *l = p->learner;
    size_t before = l->own_count;
    int rc = learner_take(p->learner, p->observer.processes, record, err);
    if (record->kind == RECORD_SAMPLE && record->sample.event == p->observer.event) {
        p->samples++;
        p->known += l->own_count > before && l->own[before] != TRIE_NONE;
    }
    return rc;
}

static void use_events(struct engine *p, const struct event *events, size_t count, uint32_t event)
{
    audits_events(p->learner->audits, events, count, event);
    p->observer.events = events;
    p->observer.event = event;
}

int engine_begin_live(struct engine *p, const struct event *events, size_t count, uint32_t event,
                      struct fathom_error *err)
{
    p->learned = true;
    use_events(p, events, count, event);
    return observer_begin(&p->observer, err);
}

int engine_learn(void *engine, const struct record *record, struct fathom_error *err)
{
    return learn(engine, record, err);
}

/* Looks through the files that were mapped, and sets *map to NULL if it is of other programs: its paths through the C library
 * would be taken for paths of this run. */
static int look_at_files(struct engine *p, const struct engine_input *input, const struct pathmap **map,
                         struct fathom_error *err)
{
    bool foreign = false;
    *map = input->map;
    if (p->options.validation && !input->map)
        return 0; /* the engine that it is for has looked */
    int rc = mapped_files_read(input->reader, input->map, p->images, p->learner->trie, &foreign, err);
    if (foreign && !input->kept)
        *map = NULL;
    return rc;
}

/* Sets up a run. given: the caller's map or NULL; map: the same, or NULL if it is not used. */
static int begin_run(struct engine *p, const struct pathmap *given, const struct pathmap *map,
                     struct fathom_error *err)
{
    p->observer.calls = p->calls;
    struct fit_input input = {.images = p->images,
                              .calls = p->calls,
                              .trie = p->learner->trie,
                              .numbers = trainer_numbers(p->learner->trainer),
                              .settings = p->observer.settings,
                              .survey = p->survey,
                              .audits = p->learner->audits,
                              .trained = map,
                              .no_em = p->options.no_em,
                              .brief = p->options.validation,
                              .progress = p->options.progress};
    p->fit = fit_new(&input);
    p->builds = given ? builds_new(given, p->log) : NULL;
    if (!p->options.validation)
        p->calibration = calibration_new();
    if (!p->fit || !p->calibration || (given && !p->builds))
        return error_memory(err);
    if (map && p->learner->held && held_out_shape(p->learner->held, map) < 0)
        return error_memory(err);
    /* Merge the map first: its hooked images determine the shape of the learned paths. */
    return map ? trie_merge(p->learner->trie, map, err) : 0;
}

static int survey(struct engine *p, struct passes *passes, struct fathom_error *err)
{
    bool codes = !p->options.no_automaton;
    struct cid_lister lister = {.observer = &p->observer,
                                .survey = p->survey,
                                .unread = p->unread,
                                .open_programs = codes,
                                .open_all = codes && pathmap_node_count(fit_pathmap(p->fit)) == 0};
    return passes_run(passes, "surveying", list_cids, &lister, err);
}

/* A resolve_sink (context: the fold's engine). */
static int compare_held(void *engine, const struct process *process, const struct sample *sample,
                        const struct resolved *resolved, struct fathom_error *err)
{
    struct engine *p = engine;
    (void)process;
    struct held_stack stack;
    if (resolved->kind == RESOLVED_UNKNOWN)
        return 0;
    int right = held_out_agrees(p->learner->held, sample, fit_pathmap(p->fit), resolved->node, &stack);
    if (right < 0)
        return 0;
    uint32_t unseen;
    pathmap_unseen(fit_pathmap(p->fit), resolved->node, &unseen);
    return calibration_note(p->calibration, resolved, unseen, &stack, right) < 0 ? error_memory(err) : 0;
}

/* Whether so much is to be inferred, and so many stacks tell how well, that it is worth the time. */
static bool is_validated(const struct engine *p)
{
    const struct learner *l = p->learner;
    return !p->options.validation && !p->options.no_automaton && l->from != LEARN_NOTHING &&
           l->learned >= VALIDATED_LEAST && fit_found(p->fit) >= VALIDATED_SHARE;
}

/* Infers a part of the unwound stacks from the others, by an engine of its own. Takes what it cost from the work. */
static int validate_fold(struct engine *p, const struct engine_input *input, unsigned number,
                         struct work *work, struct fathom_error *err)
{
    struct engine_options options = p->options;
    options.validation = work->left;
    options.fold = number;
    options.hold_back = false;
    struct engine *other = engine_new(p->images, &options, NULL);
    if (!other)
        return error_memory(err);
    other->calibration = p->calibration;
    other->calls = p->calls;
    other->proved = p->proved;
    int rc = engine_run(other, input, compare_held, other, err);
    work_take(work, other->fit ? fit_steps(other->fit) : 0);
    engine_free(other);
    return rc;
}

/* Each stack is held out once if that costs little, else a part of them. A fold that has less work than the one before would
 * judge by what it has to leave out. */
static int calibrate(struct engine *p, const struct engine_input *input, struct fathom_error *err)
{
    int rc = 0;
    uint64_t allowed = fit_allowed(p->fit), before, done = 0;
    struct work work = {allowed < VALIDATED_STEPS ? allowed : VALIDATED_STEPS};
    for (unsigned number = 0; rc == 0 && number < HELD_OUT_FOLDS && work.left && work.left >= done;
         number++) {
        before = work.left;
        rc = validate_fold(p, input, number, &work, err);
        done = before - work.left;
        p->validation_steps += done;
    }
    calibration_settle(p->calibration);
    return rc;
}

/* The steps that produce the map used to resolve samples. */
static int learn_and_fit(struct engine *p, const struct engine_input *input, struct passes *passes,
                         struct fathom_error *err)
{
    int rc = p->learned ? 0 : passes_run(passes, "learning", learn, p, err);
    if (rc == 0 && p->learner->held)
        rc = held_out_done(p->learner->held, err);
    fit_own(p->fit, p->learner->own, p->learner->own_count);
    if (rc == 0)
        rc = fit_map(p->fit, err);
    if (rc == 0 && p->learner->base_unknown)
        rc = vote_bases(passes, p->fit, !p->options.no_automaton, &p->bases_voted, err);
    if (rc == 0)
        rc = survey(p, passes, err);
    if (rc == 0)
        rc = fit_surveyed(p->fit, err);
    if (rc == 0 && !p->options.no_automaton)
        rc = fit_paths(p->fit, err);
    if (rc == 0 && !p->options.no_temporal)
        rc = fit_coherence(p->fit, err);
    return rc == 0 && is_validated(p) ? calibrate(p, input, err) : rc;
}

/* Where so few stacks of the run were read that they tell nothing, the map's training tells how far to believe its paths. */
static void use_training(struct engine *p, const struct pathmap *map)
{
    if (!map || p->learner->learned >= VALIDATED_LEAST || p->options.validation)
        return;
    p->trained = trained_of(map);
    p->by_training = true;
    calibration_train(p->calibration, &p->trained);
}

static int resolve(struct engine *p, struct passes *passes, resolve_sink *sink, void *context,
                   struct fathom_error *err)
{
    struct resolve *step =
        resolve_new(&(struct resolve_input){.observer = &p->observer,
                                            .fit = p->fit,
                                            .unread = p->unread,
                                            .builds = p->builds,
                                            .calibration = p->options.validation ? NULL : p->calibration,
                                            .sink = sink,
                                            .context = context});
    if (!step)
        return error_memory(err);
    int rc = passes_run(passes, "resolving", resolve_take, step, err);
    if (rc == 0)
        rc = resolve_flush(step, err);
    resolve_free(step);
    return rc;
}

int engine_run(struct engine *p, const struct engine_input *input, resolve_sink *sink, void *context,
               struct fathom_error *err)
{
    struct passes passes = {.reader = input->reader,
                            .observer = &p->observer,
                            .most = p->options.validation ? VALIDATED_MOST : 0,
                            .progress = p->options.progress};
    const struct event *events;
    size_t count = reader_events(input->reader, &events);
    use_events(p, events, count, input->event);
    image_cache_kernel(p->images, reader_kernel(input->reader));
    const struct pathmap *used;
    int rc = look_at_files(p, input, &used, err);
    if (rc == 0 && !p->calls && !(p->calls = image_calls_new()))
        rc = error_memory(err);
    if (rc == 0 && !p->options.validation && !p->learned)
        rc = proved_read(input->reader, p->images, p->calls, p->log, &p->proved, err);
    passes.proved = p->proved;
    if (rc == 0)
        rc = begin_run(p, input->kept ? NULL : input->map, used, err);
    if (rc == 0)
        rc = learn_and_fit(p, input, &passes, err);
    if (rc == 0)
        use_training(p, used);
    if (rc == 0)
        rc = resolve(p, &passes, sink, context, err);
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
        .learned = p->learner->learned,
        .inferred = p->fit ? *fit_inferred(p->fit) : (struct extend_summary){0},
        .steps = p->validation_steps + (p->fit ? fit_steps(p->fit) : 0),
        .bases_voted = p->bases_voted,
        .trained = p->by_training ? &p->trained : NULL,
    };
    out->unread_count = unread_names(p->unread, &out->unread);
}
