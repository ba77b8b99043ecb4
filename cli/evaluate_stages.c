/* evaluate_stages.c - compares a recording with the truth, resolving it once for each requested stage of
 * inference. */
#include "cli/evaluate.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/inferred.h"
#include "cli/symfs.h"
#include "cli/terminal.h"
#include "image/debuginfod.h"
#include "infer/chains/links.h"

#define CUT_TOLD 100 /* one in so many stacks that were not copied whole is worth a warning */

/* What all stages share. */
struct stand {
    struct image_cache *images;
    struct debuginfod *debuginfod;
    struct reader *reader;
    uint32_t event;
    struct pathmap *map, *truth_map; /* NULL: none */
    struct truth *truth;
    const struct log *log;
    const struct progress *progress;
};

/* One configuration of inference. */
struct run {
    struct engine *engine;
    struct evaluation *evaluation;
};

static void stand_close(struct stand *s)
{
    truth_free(s->truth);
    pathmap_close(s->truth_map);
    pathmap_close(s->map);
    reader_close(s->reader);
    image_cache_free(s->images);
    debuginfod_free(s->debuginfod);
}

/* Fails unless the true paths are known, from a truth map or from the recording's stack dumps or call chains. */
static int check_truth(const struct stand *s, const struct evaluate_options *options, const char *recording,
                       struct fathom_error *err)
{
    const struct event *events;
    reader_events(s->reader, &events);
    const struct perf_event_attr *attr = &events[s->event].attr;
    if (options->truth || attr->sample_type & PERF_SAMPLE_STACK_USER || links_source(attr) != CHAIN_NONE)
        return 0;
    return error_set(
        err, ENOMSG,
        "the samples of %s have neither stack dumps nor call chains, so their true paths are not known: "
        "record with \"fathom evaluate -o\" or \"perf record --intr-regs=sp,ip,bp --call-graph "
        "dwarf,32768\", or pass --truth a map trained on this very run",
        recording);
}

static int stand_open(struct stand *s, const struct evaluate_options *options, const char *recording,
                      struct terminal *terminal, struct fathom_error *err)
{
    *s = (struct stand){.log = &terminal->log, .progress = &terminal->progress};
    s->debuginfod = debuginfod_new(s->log);
    struct image_options image_options = {.symfs = archived_root(options->archived, options->symfs),
                                          .archived = archived_directory(options->archived),
                                          .log = s->log,
                                          .debuginfod = s->debuginfod};
    s->images = image_cache_new(&image_options);
    int rc = s->images ? symfs_check(options->symfs, err) : error_memory(err);
    if (rc == 0)
        rc = reader_open(recording, s->log, &s->reader, err);
    if (rc == 0)
        rc = reader_main_event(s->reader, NULL, &s->event, err);
    if (rc == 0)
        rc = check_truth(s, options, recording, err);
    if (rc == 0 && options->map)
        rc = pathmap_open(options->map, &s->map, err);
    if (rc == 0 && options->truth)
        rc = pathmap_open(options->truth, &s->truth_map, err);
    if (rc == 0) {
        s->truth = truth_new(s->truth_map);
        rc = s->truth ? 0 : error_memory(err);
    }
    if (rc < 0)
        stand_close(s);
    return rc;
}

static void run_close(struct run *run)
{
    evaluation_free(run->evaluation);
    engine_free(run->engine);
}

static int add_sample(void *context, const struct process *process, const struct sample *sample,
                      const struct resolved *resolved, struct fathom_error *err)
{
    struct run *run = context;
    return evaluation_add(run->evaluation, engine_map(run->engine), process, sample, resolved, err);
}

/* The caller closes the run even on failure. */
static int run_stage(struct stand *s, struct stage *stage, struct run *run, struct fathom_error *err)
{
    struct engine_options options = stage->options;
    options.progress = s->progress;
    *run = (struct run){engine_new(s->images, &options, s->log), evaluation_new(s->truth)};
    int rc = run->engine && run->evaluation ? 0 : error_memory(err);
    if (rc == 0)
        rc = engine_run(run->engine, &(struct engine_input){s->reader, s->event, s->map, false}, add_sample,
                        run, err);
    if (rc == 0)
        rc = evaluation_score(run->evaluation, &stage->score, err);
    return rc;
}

/* Whether a recording that was made is to be taken for one whose stacks were compared. */
static bool is_replayed(const struct evaluate_options *options)
{
    return options->input && options->target.verify.wish == FATHOM_VERIFY_ASKED;
}

/* Makes the recording say of its samples' stacks what the program would have said. */
static int replay(struct stand *s, const struct evaluate_options *options, struct replay *out,
                  struct terminal *terminal, struct fathom_error *err)
{
    const struct fathom_verify *verify = &options->target.verify;
    const struct event *events;
    reader_events(s->reader, &events);
    if (!(events[s->event].attr.sample_type & PERF_SAMPLE_STACK_USER))
        return error_set(err, ENOMSG, "--verify: the samples of %s have no stacks to compare",
                         options->input);
    int rc = replay_run(s->reader, s->images,
                        &(struct replay_options){s->event, verify->compared, verify->burst, verify->rate},
                        out, err);
    if (rc == 0)
        reader_say(s->reader, s->event, out->said, out->count);
    if (rc == 0 && out->cut * CUT_TOLD > out->count)
        terminal_say(terminal, LOG_WARNING,
                     "the copies of %llu of %llu stacks end before the stack does, so the program would have "
                     "read other stacks than these (record with a larger --stack)",
                     (unsigned long long)out->cut, (unsigned long long)out->count);
    return rc;
}

/* The stages, each adding to the one before; without --stages only the last one. */
static unsigned list_stages(const struct evaluate_options *options, struct stage *stages)
{
    unsigned count = 0;
    struct engine_options at = options->engine;
    at.no_automaton = at.no_temporal = at.no_em = true;
    stages[count++] = (struct stage){.name = "exact", .options = at};
    if (!options->engine.no_automaton) {
        at.no_automaton = false;
        stages[count++] = (struct stage){.name = "+ automaton", .options = at};
    }
    if (!options->engine.no_temporal) {
        at.no_temporal = false;
        stages[count++] = (struct stage){.name = "+ temporal", .options = at};
    }
    if (!options->engine.no_em) {
        at.no_em = false;
        stages[count++] = (struct stage){.name = "+ expectation", .options = at};
    }
    if (!options->stages) {
        stages[0] = stages[count - 1];
        count = 1;
    }
    return count;
}

int evaluate_wrong(const struct evaluate_options *options, struct evaluation *evaluation,
                   const struct truth *truth, const struct pathmap *map, struct evaluate_result *result,
                   struct fathom_error *err)
{
    if (!options->wrong)
        return 0;
    result->names = path_names_new(truth, map, evaluation_comparison(evaluation));
    if (!result->names)
        return error_memory(err);
    int rc = evaluation_wrong(evaluation, &result->wrong, &result->wrong_count, err);
    if (rc == 0 && result->wrong_count > options->wrong)
        result->wrong_count = options->wrong;
    return rc;
}

int evaluate_write(const struct evaluate_options *options, const struct evaluate_result *result,
                   struct fathom_error *err)
{
    return options->format == EVALUATE_JSON ? evaluate_write_json(result, stdout, err)
                                            : evaluate_write_text(result, stdout, err);
}

int evaluate_stages(const struct evaluate_options *options, const char *recording, struct terminal *terminal,
                    bool *stale, struct fathom_error *err)
{
    struct stand stand;
    int rc = stand_open(&stand, options, recording, terminal, err);
    if (rc < 0)
        return rc;
    struct evaluate_result result = {0};
    result.stage_count = list_stages(options, result.stages);
    result.replayed = is_replayed(options);
    const struct event *events;
    reader_events(stand.reader, &events);
    result.chains = !options->truth && links_source(&events[stand.event].attr) != CHAIN_NONE;
    if (result.replayed)
        rc = replay(&stand, options, &result.replay, terminal, err);
    for (unsigned i = 0; rc == 0 && i < result.stage_count; i++) {
        struct run run;
        rc = run_stage(&stand, &result.stages[i], &run, err);
        *stale = rc == 0 && (engine_stale(run.engine) || image_cache_other_build(stand.images));
        terminal_progress_end(terminal);
        if (rc == 0 && i + 1 == result.stage_count) {
            struct engine_summary learned;
            engine_summary(run.engine, &learned);
            result.audit_samples = learned.learned;
            result.inferences = inferences_of(&learned);
            struct reader_summary read;
            reader_summary(stand.reader, &read);
            result.lost = read.lost;
            if (learned.learned == 0 && !options->map)
                terminal_say(terminal, LOG_WARNING, "nothing to infer from: no map was given, and %s",
                             options->engine.learning == LEARN_NOTHING
                                 ? "--audit 0 leaves out the stacks of the recording"
                                 : "the recording has no audit samples (recordings by fathom evaluate do)");
            rc = evaluate_wrong(options, run.evaluation, stand.truth, engine_map(run.engine), &result, err);
            if (rc == 0)
                rc = evaluate_write(options, &result, err);
        }
        run_close(&run);
    }
    path_names_free(result.names);
    free(result.wrong);
    stand_close(&stand);
    replay_free(&result.replay);
    return rc;
}
