/* stages.c - compares a recording with the truth, resolving it once for each requested stage of inference. */
#include "api/evaluate/evaluating.h"

#include <errno.h>

#include "api/inferred.h"
#include "image/debuginfod.h"
#include "infer/chains/links.h"

#define CUT_TOLD 100 /* warn if one in this many stacks was not copied completely */

/* Fails unless the true paths are known, from a truth map or from the recording's stack dumps or call chains. */
static int check_truth(const struct fathom_evaluation *e, const char *recording, struct fathom_error *err)
{
    const struct event *events;
    reader_events(e->reader, &events);
    const struct perf_event_attr *attr = &events[e->event].attr;
    if (e->options.truth || attr->sample_type & PERF_SAMPLE_STACK_USER || links_source(attr) != CHAIN_NONE)
        return 0;
    return error_set(
        err, ENOMSG,
        "the samples of %s have neither stack dumps nor call chains, so their true paths are not known: "
        "record with \"fathom evaluate -o\" or \"perf record --intr-regs=sp,ip,bp --call-graph "
        "dwarf,32768\", or pass --truth a map trained on this very run",
        recording);
}

static int open_all(struct fathom_evaluation *e, const char *recording, struct fathom_error *err)
{
    const struct fathom_evaluation_options *o = &e->options;
    const char *map = archived_map(e->archived, o->map);
    e->debuginfod = debuginfod_new(&e->host.log);
    struct image_options image_options = {.symfs = archived_root(e->archived, o->symfs),
                                          .archived = archived_directory(e->archived),
                                          .log = &e->host.log,
                                          .debuginfod = e->debuginfod};
    e->images = image_cache_new(&image_options);
    int rc = e->images ? 0 : error_memory(err);
    if (rc == 0)
        rc = reader_open(recording, &e->host.log, &e->reader, err);
    if (rc == 0)
        rc = reader_main_event(e->reader, NULL, &e->event, err);
    if (rc == 0)
        rc = check_truth(e, recording, err);
    if (rc == 0 && map)
        rc = pathmap_open(map, &e->map, err);
    if (rc == 0 && o->truth)
        rc = pathmap_open(o->truth, &e->truth_map, err);
    return rc;
}

void evaluate_run_close(struct run *run)
{
    evaluation_free(run->evaluation);
    engine_free(run->engine);
    *run = (struct run){0};
}

static int add_sample(void *context, const struct process *process, const struct sample *sample,
                      const struct resolved *resolved, struct fathom_error *err)
{
    struct run *run = context;
    return evaluation_add(run->evaluation, engine_map(run->engine), process, sample, resolved, err);
}

static int run_stage(struct fathom_evaluation *e, struct stage *stage, struct fathom_error *err)
{
    struct engine_options options = stage->options;
    options.progress = &e->host.progress;
    options.file = e->file;
    options.whole_samples = true; /* their stacks are the truth */
    truth_free(e->truth);         /* of the previous stage: this engine may open the images again */
    e->truth = truth_new(e->truth_map);
    e->run = (struct run){engine_new(e->images, &options, &e->host.log),
                          e->truth ? evaluation_new(e->truth) : NULL};
    int rc = e->run.engine && e->run.evaluation ? 0 : error_memory(err);
    if (rc == 0)
        rc = engine_run(e->run.engine, &(struct engine_input){e->reader, e->event, e->map, false}, add_sample,
                        &e->run, err);
    if (rc == 0)
        rc = evaluation_score(e->run.evaluation, &stage->score, err);
    return rc;
}

/* Makes the recording describe its samples' stacks as the BPF program would have. */
static int replay_stacks(struct fathom_evaluation *e, const char *recording, struct fathom_error *err)
{
    const struct fathom_verify *verify = &e->options.target.verify;
    struct replay *out = &e->result.replay;
    const struct event *events;
    reader_events(e->reader, &events);
    if (!(events[e->event].attr.sample_type & PERF_SAMPLE_STACK_USER))
        return error_set(err, ENOMSG, "--verify: the samples of %s have no stacks to compare", recording);
    int rc = replay_run(e->reader, e->images,
                        &(struct replay_options){e->event, verify->compared, verify->burst, verify->rate},
                        out, err);
    if (rc == 0)
        reader_set_stacks(e->reader, e->event, out->stacks, out->count);
    if (rc == 0 && out->cut * CUT_TOLD > out->count)
        log_write(&e->host.log, LOG_WARNING,
                  "the copies of %llu of %llu stacks end before the stack does, so the program would have "
                  "read other stacks than these (record with a larger --stack)",
                  (unsigned long long)out->cut, (unsigned long long)out->count);
    return rc;
}

/* Lists the stages, each of which adds to the previous one; without --stages only the last one. */
static unsigned list_stages(const struct fathom_evaluation_options *options, struct stage *stages)
{
    unsigned count = 0;
    struct engine_options at = {.learning = options->audit_hz ? LEARN_AUDITS : LEARN_NOTHING};
    at.no_automaton = at.no_temporal = at.no_em = true;
    stages[count++] = (struct stage){.name = "exact", .options = at};
    if (!options->no_automaton) {
        at.no_automaton = false;
        stages[count++] = (struct stage){.name = "+ automaton", .options = at};
    }
    if (!options->no_temporal) {
        at.no_temporal = false;
        stages[count++] = (struct stage){.name = "+ temporal", .options = at};
    }
    if (!options->no_em) {
        at.no_em = false;
        stages[count++] = (struct stage){.name = "+ expectation", .options = at};
    }
    if (!options->stages) {
        stages[0] = stages[count - 1];
        count = 1;
    }
    return count;
}

int evaluate_wrong(struct fathom_evaluation *e, const struct pathmap *map, struct fathom_error *err)
{
    struct evaluate_result *result = &e->result;
    if (!e->options.wrong)
        return 0;
    result->names = path_names_new(e->truth, map, evaluation_comparison(e->run.evaluation));
    if (!result->names)
        return error_memory(err);
    int rc = evaluation_wrong(e->run.evaluation, &result->wrong, &result->wrong_count, err);
    if (rc == 0 && result->wrong_count > e->options.wrong)
        result->wrong_count = e->options.wrong;
    return rc;
}

/* Stores what the last stage learned, and where it was wrong. */
static int store_result(struct fathom_evaluation *e, struct fathom_error *err)
{
    struct evaluate_result *result = &e->result;
    struct engine_summary learned;
    struct reader_summary read;
    engine_summary(e->run.engine, &learned);
    result->audit_samples = learned.learned;
    result->inferences = inferences_of(&learned);
    reader_summary(e->reader, &read);
    result->lost = read.lost;
    if (learned.learned == 0 && !e->map)
        log_write(&e->host.log, LOG_WARNING, "nothing to infer from: no map was given, and %s",
                  e->options.audit_hz
                      ? "the recording has no audit samples (recordings by fathom evaluate do)"
                      : "--audit 0 leaves out the stacks of the recording");
    return evaluate_wrong(e, engine_map(e->run.engine), err);
}

int evaluate_stages(struct fathom_evaluation *e, struct fathom_error *err)
{
    struct evaluate_result *result = &e->result;
    const char *recording = archived_recording(e->archived, e->options.recording);
    const struct event *events;
    int rc = open_all(e, recording, err);
    if (rc < 0)
        return rc;
    result->stage_count = list_stages(&e->options, result->stages);
    result->replayed = e->given && e->options.target.verify.wish == FATHOM_VERIFY_ASKED;
    reader_events(e->reader, &events);
    result->chains = !e->options.truth && links_source(&events[e->event].attr) != CHAIN_NONE;
    if (result->replayed)
        rc = replay_stacks(e, recording, err);
    for (unsigned i = 0; rc == 0 && i < result->stage_count; i++) {
        evaluate_run_close(&e->run);
        rc = run_stage(e, &result->stages[i], err);
    }
    e->stale = rc == 0 && (engine_stale(e->run.engine) || image_cache_other_build(e->images));
    return rc == 0 ? store_result(e, err) : rc;
}
