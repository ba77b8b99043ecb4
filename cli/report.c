/* report.c - `fathom report`: prints a recording's hot calling contexts. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/text.h"
#include "evaluate/evaluation.h"
#include "cli/exit.h"
#include "cli/inferred.h"
#include "cli/options.h"
#include "cli/symfs.h"
#include "profile/profile.h"
#include "image/debuginfod.h"
#include "report/format.h"

struct report_options {
    const char *input, *map, *event, *symfs;
    struct view_options view;
    struct profile_options profile;
    double phi;
    struct pipeline_options pipeline;
    const struct format *format;
    const struct metric *metric;
    enum colour_when colour;
    uint64_t rows; /* 0: all */
    bool wide;     /* names in full, regardless of the terminal's width */
};

struct report_context {
    struct profile *profile;
    struct pipeline *pipeline;
    struct terminal *terminal;
    uint32_t event;
    struct truth *truth; /* of the audit samples held back for checking */
    struct evaluation *checked;
};

/* Checks a held-back audit sample; each counts as one, regardless of its weight. */
static int check_audit(struct report_context *c, const struct process *process, const struct sample *sample,
                       const struct resolved *resolved, struct fathom_error *err)
{
    struct sample one = *sample;
    one.period = 1;
    return evaluation_add(c->checked, pipeline_map(c->pipeline), process, &one, resolved, err);
}

static int report_sample(void *context, const struct process *process, const struct sample *sample,
                         const struct resolved *resolved, struct fathom_error *err)
{
    struct report_context *c = context;
    if (sample->event != c->event)
        return check_audit(c, process, sample, resolved, err);
    return profile_add(c->profile, pipeline_map(c->pipeline), process, sample, resolved, err);
}

/* The recorded command, "" if the recorder's own command line does not contain it. */
static const char *recorded_command(const struct reader *reader)
{
    const char *command = reader_command(reader), *end = command ? strstr(command, " -- ") : NULL;
    return end ? end + 4 : "";
}

/* Estimates the weight of lost records: the average of the kept ones, of all kinds. */
static uint64_t lost_weight(const struct reader_summary *summary, uint64_t weight)
{
    return summary->records ? (uint64_t)((double)summary->lost * (double)weight / (double)summary->records)
                            : 0;
}

/* fathom record adds an audit event wherever the kernel allows it. */
static bool has_audits(const struct reader *reader)
{
    const struct event *events;
    bool any = false;
    for (size_t i = reader_events(reader, &events); i-- > 0;)
        any |= events[i].audit;
    return any;
}

static int fill_heading(struct view_heading *h, const struct report_context *c, struct reader *reader,
                        const struct event *event, const struct report_options *options,
                        struct fathom_error *err)
{
    static const char *reasons[UNKNOWN_REASONS];
    for (unsigned i = 0; i < UNKNOWN_REASONS; i++)
        reasons[i] = unknown_reason_text((enum unknown_reason)i);
    struct profile_counts counts;
    profile_counts(c->profile, &counts);
    struct reader_summary summary;
    reader_summary(reader, &summary);
    struct pipeline_summary learned;
    pipeline_summary(c->pipeline, &learned);
    struct score checked;
    int rc = evaluation_score(c->checked, &checked, err);
    if (rc < 0)
        return rc;
    *h = (struct view_heading){
        .command = reader_command(reader),
        .event = event->name,
        .user_only = event->attr.exclude_kernel,
        .map = options->map,
        .samples = counts.samples,
        .weight = counts.weight,
        .precise = counts.precise,
        .ambiguous = counts.ambiguous,
        .inferred = counts.inferred,
        .unknown = counts.unknown,
        .reason_text = reasons,
        .reason_count = UNKNOWN_REASONS,
        .expected = counts.expected,
        .training = options->map ? NULL : recorded_command(reader),
        .rests_on_inference = counts.inferred + counts.ambiguous + counts.unknown_by_reason[UNKNOWN_CONTEXT],
        .audit_samples = learned.learned,
        .audits_checked = (uint64_t)checked.all.weight,
        .audits_right = (uint64_t)checked.right.weight,
        .inferences = inferences_of(&learned),
        .unread = learned.unread,
        .unread_count = learned.unread_count,
        .lost = summary.lost,
        .lost_weight = lost_weight(&summary, counts.weight),
        .foreign = !summary.stacks && !has_audits(reader),
        .other_event = !attr_is_clock(&event->attr) && !(event->attr.sample_type & PERF_SAMPLE_STACK_USER),
        .base_unknown = counts.unknown_by_reason[UNKNOWN_BASE],
        .bare = counts.unknown_by_reason[UNKNOWN_REGISTERS],
        .counted = options->metric == metric_table ? summary.counted : 0, /* in what the event counts */
        .counted_share = summary.counted_share,
        .started = summary.started,
        .unsampled = summary.unsampled,
        .by_thread = event->attr.inherit,
        .throttled = summary.throttled,
        .damaged = summary.damaged,
        .truncated = summary.truncated,
    };
    memcpy(h->unknown_by_reason, counts.unknown_by_reason, sizeof counts.unknown_by_reason);
    return 0;
}

static int write_report(struct report_context *c, struct reader *reader, const struct event *event,
                        const struct report_options *options, struct fathom_error *err)
{
    struct contexts contexts;
    if (profile_contexts(c->profile, options->phi, &contexts) < 0)
        return error_memory(err);
    struct view_options view = options->view;
    char unit[sizeof event->name];
    snprintf(unit, sizeof unit, "%s", metrics_unit(contexts.metrics, 0));
    text_clean(unit);
    view.unit = unit;
    view.verbose = c->terminal->verbose;
    struct view_heading heading;
    struct report report = {&contexts, &heading, &view};
    int rc = fill_heading(&heading, c, reader, event, options, err);
    if (rc == 0)
        rc = options->format->write(&report, stdout, err);
    return rc;
}

/* What is counted depends on what the event's samples carry. */
static int start_profile(struct report_context *c, const struct report_options *options,
                         const struct reader *reader, struct image_cache *images, struct fathom_error *err)
{
    const struct event *events;
    struct profile_options profile = options->profile;
    reader_events(reader, &events);
    int rc = metrics_of(&events[c->event], options->metric, &profile.metrics, err);
    if (rc < 0)
        return rc;
    c->profile = profile_new(&profile, images);
    return c->profile ? 0 : error_memory(err);
}

static int report_file(const struct report_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct reader *reader = NULL;
    struct pathmap *map = NULL;
    struct image_options image_options = {
        .symfs = options->symfs, .log = &terminal->log, .debuginfod = debuginfod_new(&terminal->log)};
    struct image_cache *images = image_cache_new(&image_options);
    struct report_context c = {.terminal = terminal};
    int rc = images ? symfs_check(options->symfs, &err) : error_memory(&err);
    if (rc == 0)
        rc = reader_open(options->input, &terminal->log, &reader, &err);
    if (rc == 0)
        rc = reader_main_event(reader, options->event, &c.event, &err);
    if (rc == 0 && options->map)
        rc = pathmap_open(options->map, &map, &err);
    if (rc == 0)
        rc = start_profile(&c, options, reader, images, &err);
    if (rc < 0)
        goto out;
    struct pipeline_options pipeline = options->pipeline;
    pipeline.progress = &terminal->progress;
    c.pipeline = pipeline_new(images, &pipeline, &terminal->log);
    c.truth = truth_new(NULL);
    c.checked = c.truth ? evaluation_new(c.truth) : NULL;
    rc = c.pipeline && c.checked ? 0 : error_memory(&err);
    if (rc == 0)
        rc =
            pipeline_run(c.pipeline, &(struct pipeline_input){reader, c.event, map}, report_sample, &c, &err);
    terminal_progress_end(terminal);
    if (rc == 0) {
        const struct event *events;
        reader_events(reader, &events);
        rc = write_report(&c, reader, &events[c.event], options, &err);
    }
out:
    if (rc < 0)
        terminal_error(terminal, &err);
    int code = rc < 0 ? exit_code_of(&err) : EXIT_OK;
    if (rc == 0 && (pipeline_stale(c.pipeline) || image_cache_other_build(images)))
        code = EXIT_BUILD; /* printed all the same; the affected samples are unknown */
    evaluation_free(c.checked);
    truth_free(c.truth);
    pipeline_free(c.pipeline);
    profile_free(c.profile);
    pathmap_close(map);
    reader_close(reader);
    image_cache_free(images);
    debuginfod_free(image_options.debuginfod);
    return code;
}

/* --no-audit */
static bool take_no_audit(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct report_options *options = value;
    (void)terminal, (void)row, (void)text;
    options->pipeline.learning = LEARN_NOTHING;
    return true;
}

/* --phi alone: eps = phi / 5, as in the HCCT paper (section 5.2). */
static bool complete(struct report_options *o, struct terminal *terminal)
{
    if (o->phi > 0 && o->profile.eps == 0)
        o->profile.eps = o->phi / 5;
    if (o->profile.eps > 0 && o->phi <= o->profile.eps) {
        terminal_wrong(terminal, "--eps must be smaller than --phi");
        return false;
    }
    o->view.max_rows = (unsigned)o->rows;
    o->view.colour = terminal_colour(o->colour, stdout);
    o->view.width = o->wide ? 0 : terminal_width(stdout);
    return true;
}

static int report_run(int argc, char **argv, struct terminal *terminal)
{
    struct report_options options = {
        .input = "perf.data",
        .format = &format_table[0],
        .metric = &metric_table[0],
        .pipeline = {.learning = LEARN_DUMPS, .hold_back = true, .own_dumps = true},
        .view = {.view = &view_table[0], .min_percent = 0.5, .show_image = true},
    };
    int code = options_parse(&report_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (optind < argc)
        return option_usage(terminal, &report_command, "unexpected argument '%s'; give the recording with -i",
                            argv[optind]);
    if (!complete(&options, terminal))
        return option_usage(terminal, &report_command, NULL);
    return report_file(&options, terminal);
}

static const struct option_word ambiguities[] = {{"likely", AMBIGUOUS_LIKELY},
                                                 {"best", AMBIGUOUS_BEST},
                                                 {"split", AMBIGUOUS_SPLIT},
                                                 {"common", AMBIGUOUS_COMMON},
                                                 {0}};
static const struct option_word colours[] = {
    {"auto", COLOUR_AUTO}, {"always", COLOUR_ALWAYS}, {"never", COLOUR_NEVER}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("input", 'i', "FILE", struct report_options, input,
                "a perf.data file; '-' reads standard input (default: perf.data)"),
    OPTION_TEXT("map", 'm', "MAP", struct report_options, map, "a path map from 'fathom train'"),
    OPTION_OWN("no-audit", 0, NULL, take_no_audit, "do not use the recording's own stack dumps"),
    INFERENCE_NO_AUTOMATON(struct report_options),
    INFERENCE_NO_TEMPORAL(struct report_options),
    INFERENCE_NO_EM(struct report_options),
    OPTION_CHOICE("ambiguous", 0, "WHAT", ambiguities, enum profile_ambiguity, struct report_options,
                  profile.ambiguity,
                  "what to show where several paths are possible: likely (the frames from the root that are "
                  "at least 50% sure, then '[one of 3 paths]'; the default), best (the most probable path), "
                  "split (each path with its share) or common (the frames they have in common)"),
    OPTION_FLAG("confidence", 0, struct report_options, view.confidence,
                "show how sure each row is; always shown if a row is less than 90% sure"),
    OPTION_FRACTION("min-confidence", 0, "P", 0, 1, struct report_options, profile.min_confidence,
                    "contexts less probable than P (0 to 1) are unknown"),
    OPTION_TABLE("view", 0, "VIEW", view_table, struct view, struct report_options, view.view, ""),
    OPTION_TABLE("metric", 0, "NAME", metric_table, struct metric, struct report_options, metric,
                 "what contexts are weighed by: "),
    OPTION_TABLE("format", 0, "FORMAT", format_table, struct format, struct report_options, format, ""),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct report_options, view.min_percent,
                    "omit rows that weigh less (default: 0.5)"),
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct report_options, rows,
                  "only the N hottest contexts"),
    OPTION_FRACTION("phi", 0, "P", 1e-9, 0.999, struct report_options, phi,
                    "hot contexts in bounded memory: those of at least P of the weight"),
    OPTION_FRACTION("eps", 0, "E", 1e-9, 0.999, struct report_options, profile.eps,
                    "with --phi: counters are within E of the weight (default: P/5)"),
    OPTION_TEXT("event", 0, "NAME", struct report_options, event,
                "which event, if the recording has several"),
    OPTION_FLAG("threads", 0, struct report_options, profile.framing.threads,
                "show each thread as a separate root"),
    OPTION_FLAG("inline", 0, struct report_options, profile.framing.inlined,
                "show functions inlined at the sampled instruction (needs debug info)"),
    OPTION_FLAG("lines", 0, struct report_options, profile.framing.lines,
                "its source line (needs debug info)"),
    SYMFS_OPTION(struct report_options),
    OPTION_FLAG("wide", 0, struct report_options, wide,
                "names in full, also where they are longer than the terminal is wide"),
    OPTION_CHOICE("color", 0, "WHEN", colours, enum colour_when, struct report_options, colour,
                  "auto, always or never"),
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details, such as a longer heading"),
    OPTION_HELP,
    OPTION_END,
};

const struct command report_command = {
    .name = "report",
    .summary = "print the hot calling contexts of a recording",
    .synopsis = "[OPTIONS]",
    .about =
        "Infers each sample's call path from a path map and the recording's own audit samples, and prints "
        "the hot calling contexts. What is ambiguous or unknown is marked as such and stays in the totals.",
    .options = rows,
    .run = report_run,
};
