/*
 * main.c - checks every path that `fathom report` shows for a recording: "paths [OPTIONS]", with those
 * options of `fathom report` that affect its paths. All candidates that the report could show are judged,
 * regardless of their probability.
 *
 * --truth judges the recording's unwound stacks instead, only by the code: all of them must pass, or the
 * judge is wrong.
 *
 * The last line on standard output is a summary. Exit 0: no path is impossible; 1: some are; 2: the recording
 * or the map cannot be read.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "infer/engine/engine.h"
#include "process/partial.h"
#include "tests/checker/answers.h"
#include "tests/checker/faults.h"

#define FAULTS_SHOWN 20
#define DEPTH_MAX    65536

struct options {
    const char *input, *map, *event;
    bool truth;
    struct engine_options engine;
};

struct check {
    const struct options *options;
    struct image_cache *images;
    struct reader *reader;
    struct pathmap *map; /* NULL: none given */
    struct engine *engine;
    const struct pathmap *resolved; /* the engine's */
    struct processes *processes;    /* of the current pass */
    struct judge *judge;
    struct answers *answers;
    struct faults *faults;
    uint32_t event;
    struct function *functions; /* by number of `resolved`; no image: not looked up yet */
    uint32_t *numbers;          /* of a path */
    struct function *path;      /* the same */
    uint64_t samples, unknown, paths, impossible, gone;
};

/* The function of a map in its image. */
static bool function_of(struct check *c, const struct pathmap *map, uint32_t number, struct function *out)
{
    struct pathmap_function f = pathmap_function(map, number);
    struct pathmap_image i = pathmap_image(map, f.image);
    struct image *image;
    if (image_cache_get(c->images, i.path, &i.build_id, &image, NULL) < 0)
        return false;
    uint32_t function = image_function_entry(image, f.address);
    if (function == IMAGE_NO_FUNCTION)
        return false;
    *out = (struct function){image, function};
    return true;
}

/* Takes every step of the map as seen by training. */
static int take_training(struct check *c, struct fathom_error *err)
{
    for (uint32_t i = 0; i < pathmap_node_count(c->map); i++) {
        struct pathmap_node node = pathmap_node(c->map, i);
        struct function caller, callee;
        if (node.parent == PATHMAP_NONE || !function_of(c, c->map, node.function, &callee) ||
            !function_of(c, c->map, pathmap_node(c->map, node.parent).function, &caller))
            continue;
        if (judge_train(c->judge, caller, callee) < 0)
            return error_memory(err);
    }
    return 0;
}

/* A resolve_sink. */
static int take_answer(void *context, const struct process *process, const struct sample *sample,
                       const struct resolved *resolved, struct fathom_error *err)
{
    struct check *c = context;
    (void)process;
    if (!sample_is_of(sample, c->event))
        return 0;
    return answers_add(c->answers, sample, resolved) < 0 ? error_memory(err) : 0;
}

static int judge_one(struct check *c, const struct process *process, const struct sample *sample,
                     const struct function *path, size_t depth, struct fathom_error *err)
{
    struct verdict verdict;
    c->paths++;
    if (judge_path(c->judge, process, sample, path, depth, &verdict) < 0)
        return error_memory(err);
    if (verdict.fault == FAULT_NONE)
        return 0;
    c->impossible++;
    return faults_add(c->faults, &verdict, path, depth) < 0 ? error_memory(err) : 0;
}

/* Whether a function is the root of handlers on alternate stacks: the path is judged from the handler on. */
static bool is_signal(const struct check *c, uint32_t number)
{
    const char *name = pathmap_function(c->resolved, number).name;
    return name && strcmp(name, PARTIAL_SIGNAL) == 0;
}

/* Judges the path of a node, if its functions are in available files. */
static int judge_node(struct check *c, const struct process *process, const struct sample *sample,
                      uint32_t node, struct fathom_error *err)
{
    int depth = pathmap_path(c->resolved, node, c->numbers, DEPTH_MAX);
    if (depth < 0 || depth > DEPTH_MAX)
        return error_set(err, EBADMSG, "a path of the map is damaged");
    const int first = depth > 0 && is_signal(c, c->numbers[0]);
    for (int i = first; i < depth; i++) {
        struct function *known = &c->functions[c->numbers[i]];
        if (!known->image && !function_of(c, c->resolved, c->numbers[i], known)) {
            c->gone++;
            return 0;
        }
        c->path[i] = *known;
    }
    return judge_one(c, process, sample, c->path + first, (size_t)(depth - first), err);
}

static int judge_sample(struct check *c, const struct process *process, const struct sample *sample,
                        struct fathom_error *err)
{
    const uint32_t *nodes;
    int count = sample_is_of(sample, c->event) ? answers_take(c->answers, sample, &nodes) : -ENOENT;
    if (count == -ENOENT)
        return 0;
    c->samples++;
    c->unknown += count == 0;
    int rc = 0;
    for (int i = 0; i < count && rc == 0 && process; i++)
        rc = judge_node(c, process, sample, nodes[i], err);
    return rc;
}

/* The passes over the recording are order_sinks: one observes its stacks, one judges them, one judges the
 * engine's paths. */
static int apply(struct check *c, const struct record *record, struct fathom_error *err)
{
    if (judge_apply(c->judge, record) < 0)
        return error_memory(err);
    return processes_apply(c->processes, record, err);
}

static int observe(void *check, const struct record *record, struct fathom_error *err)
{
    struct check *c = check;
    const struct function *path;
    if (record->kind != RECORD_SAMPLE)
        return apply(c, record, err);
    const struct sample *sample = &record->sample;
    const struct process *process = process_find(c->processes, sample->pid);
    size_t depth =
        process && (sample->stack || sample->walk) ? judge_unwind(c->judge, process, sample, &path) : 0;
    if (depth == 0)
        return 0;
    if (!c->options->truth)
        return judge_observe(c->judge, process, sample, path, depth) < 0 ? error_memory(err) : 0;
    c->samples++;
    return judge_one(c, process, sample, path, depth, err);
}

static int judge(void *check, const struct record *record, struct fathom_error *err)
{
    struct check *c = check;
    if (record->kind != RECORD_SAMPLE)
        return apply(c, record, err);
    return judge_sample(c, process_find(c->processes, record->sample.pid), &record->sample, err);
}

static int pass(struct check *c, order_sink *sink, struct fathom_error *err)
{
    processes_free(c->processes);
    c->processes = processes_new(c->images, NULL);
    return c->processes ? reader_run(c->reader, sink, c, err) : error_memory(err);
}

static int check_answers(struct check *c, struct fathom_error *err)
{
    int rc = c->map ? take_training(c, err) : 0;
    if (rc == 0)
        rc = engine_run(c->engine, &(struct engine_input){c->reader, c->event, c->map, false}, take_answer, c,
                        err);
    c->resolved = engine_map(c->engine);
    if (rc < 0)
        return rc;
    c->functions = calloc(pathmap_function_count(c->resolved) + 1, sizeof *c->functions);
    return c->functions ? pass(c, judge, err) : error_memory(err);
}

static int open_all(struct check *c, struct fathom_error *err)
{
    c->images = image_cache_new(NULL);
    c->judge = judge_new();
    c->answers = answers_new();
    c->faults = faults_new();
    c->numbers = malloc(DEPTH_MAX * sizeof *c->numbers);
    c->path = malloc(DEPTH_MAX * sizeof *c->path);
    c->engine = c->images ? engine_new(c->images, &c->options->engine, NULL) : NULL;
    if (!c->judge || !c->answers || !c->faults || !c->numbers || !c->path || !c->engine)
        return error_memory(err);
    int rc = reader_open(c->options->input, NULL, &c->reader, err);
    if (rc == 0)
        rc = reader_main_event(c->reader, c->options->event, &c->event, err);
    if (rc == 0 && c->options->map)
        rc = pathmap_open(c->options->map, &c->map, err);
    return rc;
}

static void close_all(struct check *c)
{
    engine_free(c->engine);
    processes_free(c->processes);
    judge_free(c->judge);
    answers_free(c->answers);
    faults_free(c->faults);
    pathmap_close(c->map);
    reader_close(c->reader);
    image_cache_free(c->images);
    free(c->functions);
    free(c->numbers);
    free(c->path);
}

static int run(const struct options *options)
{
    struct fathom_error err = {0};
    struct check c = {.options = options};
    int rc = open_all(&c, &err);
    if (rc == 0)
        rc = pass(&c, observe, &err);
    if (rc == 0 && !options->truth)
        rc = check_answers(&c, &err);
    if (rc < 0) {
        printf("checker: %s\n", err.text);
    } else {
        faults_write(c.faults, FAULTS_SHOWN, stdout);
        printf("checker: %llu paths of %llu samples, %llu impossible; %llu samples unknown; %llu paths in "
               "files that "
               "are gone\n",
               (unsigned long long)c.paths, (unsigned long long)c.samples, (unsigned long long)c.impossible,
               (unsigned long long)c.unknown, (unsigned long long)c.gone);
    }
    bool found = c.impossible;
    close_all(&c);
    return rc < 0 ? 2 : found;
}

enum { TRUTH = 0x100, EVENT, NO_AUDIT, NO_AUTOMATON, NO_TEMPORAL, NO_EM };

static bool take_option(struct options *o, int option)
{
    switch (option) {
    case 'i':
        o->input = optarg;
        return true;
    case 'm':
        o->map = optarg;
        return true;
    case EVENT:
        o->event = optarg;
        return true;
    case TRUTH:
        o->truth = true;
        return true;
    case NO_AUDIT:
        o->engine.learning = LEARN_NOTHING;
        return true;
    case NO_AUTOMATON:
        o->engine.no_automaton = true;
        return true;
    case NO_TEMPORAL:
        o->engine.no_temporal = true;
        return true;
    case NO_EM:
        o->engine.no_em = true;
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        {"input", required_argument, NULL, 'i'},
        {"map", required_argument, NULL, 'm'},
        {"event", required_argument, NULL, EVENT},
        {"truth", no_argument, NULL, TRUTH},
        {"no-audit", no_argument, NULL, NO_AUDIT},
        {"no-automaton", no_argument, NULL, NO_AUTOMATON},
        {"no-temporal", no_argument, NULL, NO_TEMPORAL},
        {"no-em", no_argument, NULL, NO_EM},
        {0},
    };
    struct options options = {.input = "perf.data", .engine = {.learning = LEARN_DUMPS, .hold_back = true}};
    int option;
    while ((option = getopt_long(argc, argv, "i:m:", longs, NULL)) != -1)
        if (!take_option(&options, option))
            return 2;
    return run(&options);
}
