/* report.c - `fathom report`: a recording's hot calling contexts as text. */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "evaluate/evaluation.h"
#include "cli/exit.h"
#include "cli/inferred.h"
#include "cli/options.h"
#include "cli/profile.h"
#include "image/debuginfod.h"
#include "report/view.h"
#include "report/weight.h"

struct report_options {
    const char *input, *map, *event, *symfs;
    struct view_options view;
    struct profile_options profile;
    double phi;
    struct pipeline_options pipeline;
    bool folded;
    bool wide; /* names in full, however wide the terminal is */
};

struct report_context {
    struct profile *profile;
    struct pipeline *pipeline;
    struct terminal *terminal;
    uint32_t event;
    struct truth *truth; /* of the audit samples that were held back */
    struct evaluation *checked;
};

/* An audit sample that was held back counts as one, whatever time it stands for. */
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

/* The command that was recorded, "" when the recorder's own command line does not tell. */
static const char *recorded_command(const struct reader *reader)
{
    const char *command = reader_command(reader), *end = command ? strstr(command, " -- ") : NULL;
    return end ? end + 4 : "";
}

/* What the lost records would have weighed: they are taken for such as were kept, of all kinds. */
static uint64_t lost_weight(const struct reader_summary *summary, uint64_t weight)
{
    return summary->records ? (uint64_t)((double)summary->lost * (double)weight / (double)summary->records)
                            : 0;
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
        .foreign = !summary.stacks,
        .base_unknown = summary.stacks ? 0 : counts.unknown_by_reason[UNKNOWN_BASE],
        .bare = counts.unknown_by_reason[UNKNOWN_REGISTERS],
        .counted = summary.counted,
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
    bool owned;
    struct cct *tree = profile_tree(c->profile, options->phi, &owned);
    if (!tree)
        return error_memory(err);
    struct view_options view = options->view;
    char unit[sizeof event->name];
    snprintf(unit, sizeof unit, "%s", event->name);
    text_clean(unit);
    view.unit = attr_is_clock(&event->attr) ? WEIGHT_NS : unit;
    view.verbose = c->terminal->verbose;
    view.doubts = profile_doubts(c->profile);
    struct view_heading heading;
    const struct frames *frames = profile_frames(c->profile);
    int rc;
    if (options->folded) {
        rc = folded_write(tree, frames, stdout, err);
    } else {
        rc = fill_heading(&heading, c, reader, event, options, err);
        if (rc == 0)
            rc = view_heading_write(&heading, &view, stdout, err);
        if (rc == 0)
            rc = view_write(tree, frames, &view, stdout, err);
    }
    if (owned)
        cct_free(tree);
    return rc;
}

/* A root that is not there would make every image one that cannot be read. */
static int check_symfs(const char *directory, struct fathom_error *err)
{
    struct stat st;
    if (!directory)
        return 0;
    if (stat(directory, &st) < 0)
        return error_system(err, errno, "--symfs: cannot open %s", text_name(directory));
    return S_ISDIR(st.st_mode) ? 0 : error_set(err, ENOTDIR, "--symfs: %s is not a directory", directory);
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
    int rc = images ? check_symfs(options->symfs, &err) : error_memory(&err);
    if (rc == 0)
        rc = reader_open(options->input, &terminal->log, &reader, &err);
    if (rc == 0)
        rc = reader_main_event(reader, options->event, &c.event, &err);
    if (rc == 0 && options->map)
        rc = pathmap_open(options->map, &map, &err);
    if (rc < 0)
        goto out;
    c.profile = profile_new(&options->profile, images);
    struct pipeline_options pipeline = options->pipeline;
    pipeline.progress = &terminal->progress;
    c.pipeline = pipeline_new(images, &pipeline, &terminal->log);
    c.truth = truth_new(NULL);
    c.checked = c.truth ? evaluation_new(c.truth) : NULL;
    rc = c.profile && c.pipeline && c.checked ? 0 : error_memory(&err);
    if (rc == 0)
        rc = pipeline_run(c.pipeline, reader, c.event, map, report_sample, &c, &err);
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
        code = EXIT_BUILD; /* printed all the same, with what is unknown by it */
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

enum {
    REPORT_VIEW = 0x100,
    REPORT_FORMAT,
    REPORT_MIN,
    REPORT_PHI,
    REPORT_EPS,
    REPORT_EVENT,
    REPORT_THREADS,
    REPORT_INLINE,
    REPORT_LINES,
    REPORT_SYMFS,
    REPORT_WIDE,
    REPORT_COLOR,
    REPORT_NO_AUDIT,
    REPORT_NO_AUTOMATON,
    REPORT_NO_TEMPORAL,
    REPORT_NO_EM,
    REPORT_AMBIGUOUS,
    REPORT_CONFIDENCE,
    REPORT_MIN_CONFIDENCE,
};

static bool take_option(struct report_options *o, int option, const char **colour, struct terminal *terminal)
{
    uint64_t number;
    switch (option) {
    case 'i':
        o->input = optarg;
        return true;
    case 'm':
        o->map = optarg;
        return true;
    case 'n':
        if (!option_number(terminal, "--rows", optarg, 1, UINT32_MAX, &number))
            return false;
        o->view.max_rows = (unsigned)number;
        return true;
    case 'q':
        terminal->quiet = true;
        return true;
    case 'v':
        terminal->verbose = true;
        return true;
    case REPORT_VIEW:
        if (strcmp(optarg, "tree") == 0)
            o->view.kind = VIEW_TREE;
        else if (strcmp(optarg, "callers") == 0)
            o->view.kind = VIEW_CALLERS;
        else if (strcmp(optarg, "flat") == 0)
            o->view.kind = VIEW_FLAT;
        else
            return terminal_wrong(terminal, "--view takes tree, callers or flat, not '%s'", optarg), false;
        return true;
    case REPORT_FORMAT:
        o->folded = strcmp(optarg, "folded") == 0;
        if (!o->folded && strcmp(optarg, "text") != 0)
            return terminal_wrong(terminal, "--format takes text or folded, not '%s'", optarg), false;
        return true;
    case REPORT_AMBIGUOUS:
        if (strcmp(optarg, "likely") == 0)
            o->profile.ambiguity = AMBIGUOUS_LIKELY;
        else if (strcmp(optarg, "best") == 0)
            o->profile.ambiguity = AMBIGUOUS_BEST;
        else if (strcmp(optarg, "split") == 0)
            o->profile.ambiguity = AMBIGUOUS_SPLIT;
        else if (strcmp(optarg, "common") == 0)
            o->profile.ambiguity = AMBIGUOUS_COMMON;
        else
            return terminal_wrong(terminal, "--ambiguous takes likely, best, split or common, not '%s'",
                                  optarg),
                   false;
        return true;
    case REPORT_CONFIDENCE:
        o->view.confidence = true;
        return true;
    case REPORT_MIN_CONFIDENCE:
        return option_fraction(terminal, "--min-confidence", optarg, 0, 1, &o->profile.min_confidence);
    case REPORT_MIN:
        return option_fraction(terminal, "--min", optarg, 0, 100, &o->view.min_percent);
    case REPORT_PHI:
        return option_fraction(terminal, "--phi", optarg, 1e-9, 0.999, &o->phi);
    case REPORT_EPS:
        return option_fraction(terminal, "--eps", optarg, 1e-9, 0.999, &o->profile.eps);
    case REPORT_EVENT:
        o->event = optarg;
        return true;
    case REPORT_THREADS:
        o->profile.framing.threads = true;
        return true;
    case REPORT_INLINE:
        o->profile.framing.inlined = true;
        return true;
    case REPORT_LINES:
        o->profile.framing.lines = true;
        return true;
    case REPORT_SYMFS:
        o->symfs = optarg;
        return true;
    case REPORT_WIDE:
        o->wide = true;
        return true;
    case REPORT_COLOR:
        *colour = optarg;
        return true;
    case REPORT_NO_AUTOMATON:
        o->pipeline.no_automaton = true;
        return true;
    case REPORT_NO_TEMPORAL:
        o->pipeline.no_temporal = true;
        return true;
    case REPORT_NO_EM:
        o->pipeline.no_em = true;
        return true;
    case REPORT_NO_AUDIT:
        o->pipeline.learning = LEARN_NOTHING;
        return true;
    default:
        return false;
    }
}

/* --phi alone: eps = phi / 5, as the HCCT paper chooses (section 5.2). */
static bool complete(struct report_options *o, const char *colour, struct terminal *terminal)
{
    if (o->phi > 0 && o->profile.eps == 0)
        o->profile.eps = o->phi / 5;
    if (o->profile.eps > 0 && o->phi <= o->profile.eps) {
        terminal_wrong(terminal, "--eps must be smaller than --phi");
        return false;
    }
    int wanted = terminal_colour(colour, stdout);
    if (wanted < 0) {
        terminal_wrong(terminal, "--color takes auto, always or never, not '%s'", colour);
        return false;
    }
    o->view.colour = wanted;
    o->view.width = o->wide ? 0 : terminal_width(stdout);
    return true;
}

static int report_run(int argc, char **argv, struct terminal *terminal)
{
    static const struct option longs[] = {
        {"input", required_argument, NULL, 'i'},
        {"map", required_argument, NULL, 'm'},
        {"rows", required_argument, NULL, 'n'},
        {"view", required_argument, NULL, REPORT_VIEW},
        {"format", required_argument, NULL, REPORT_FORMAT},
        {"min", required_argument, NULL, REPORT_MIN},
        {"phi", required_argument, NULL, REPORT_PHI},
        {"eps", required_argument, NULL, REPORT_EPS},
        {"event", required_argument, NULL, REPORT_EVENT},
        {"threads", no_argument, NULL, REPORT_THREADS},
        {"inline", no_argument, NULL, REPORT_INLINE},
        {"lines", no_argument, NULL, REPORT_LINES},
        {"symfs", required_argument, NULL, REPORT_SYMFS},
        {"wide", no_argument, NULL, REPORT_WIDE},
        {"color", required_argument, NULL, REPORT_COLOR},
        {"no-audit", no_argument, NULL, REPORT_NO_AUDIT},
        {"no-automaton", no_argument, NULL, REPORT_NO_AUTOMATON},
        {"no-temporal", no_argument, NULL, REPORT_NO_TEMPORAL},
        {"no-em", no_argument, NULL, REPORT_NO_EM},
        {"ambiguous", required_argument, NULL, REPORT_AMBIGUOUS},
        {"confidence", no_argument, NULL, REPORT_CONFIDENCE},
        {"min-confidence", required_argument, NULL, REPORT_MIN_CONFIDENCE},
        {"quiet", no_argument, NULL, 'q'},
        {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct report_options options = {
        .input = "perf.data",
        .pipeline = {.learning = LEARN_DUMPS, .hold_back = true},
        .view = {.kind = VIEW_TREE, .min_percent = 0.5, .show_image = true},
    };
    const char *colour = "auto";
    int option;
    while ((option = getopt_long(argc, argv, "i:m:n:qvh", longs, NULL)) != -1) {
        if (option == 'h')
            return option_help(&report_command);
        if (!take_option(&options, option, &colour, terminal))
            return option_usage(terminal, &report_command, NULL);
    }
    if (optind < argc)
        return option_usage(terminal, &report_command,
                            "'%s' is not an option; the recording is given with -i", argv[optind]);
    if (!complete(&options, colour, terminal))
        return option_usage(terminal, &report_command, NULL);
    return report_file(&options, terminal);
}

const struct command report_command = {
    .name = "report",
    .summary = "the hot calling contexts of a recording",
    .usage =
        "usage: fathom report [OPTIONS]\n"
        "\n"
        "Infers each sample's call path from a path map and the recording's own audit samples, and prints\n"
        "the hot calling contexts. What is ambiguous or unknown is said so and stays in the totals.\n"
        "\n"
        "  -i, --input FILE       a perf.data file; '-' reads standard input (default: perf.data)\n"
        "  -m, --map MAP          a path map from 'fathom train'\n"
        "      --no-audit         do not use the recording's own stack dumps\n"
        "      --no-automaton     leave contexts that were never trained unknown\n"
        "      --no-temporal      judge each sample by itself, not by what its thread did before and after\n"
        "      --no-em            do not learn from ambiguous samples how often each path runs\n"
        "      --ambiguous WHAT   where several paths are possible: likely (as far inwards as they are at\n"
        "                         least 50% sure, then '[one of 3 paths]'; the default), best (the most\n"
        "                         probable), split (each its share) or common (what they have in common)\n"
        "      --confidence       how sure each row is; always there when a row is less than 90% sure\n"
        "      --min-confidence P contexts less probable than P (0 to 1) are unknown\n"
        "      --view VIEW        tree (callers first), callers (hot functions first) or flat\n"
        "      --format FORMAT    text, or folded (for flame graphs)\n"
        "      --min PERCENT      leave out what weighs less (default: 0.5)\n"
        "  -n, --rows N           the N hottest contexts only\n"
        "      --phi P, --eps E   hot contexts in bounded memory: those of at least P of the weight, with\n"
        "                         counters within E of it (default: E = P/5)\n"
        "      --event NAME       which event, where the recording has several\n"
        "      --threads          each thread as a root of its own\n"
        "      --inline           functions inlined at the sampled instruction (needs debug info)\n"
        "      --lines            its source line (needs debug info)\n"
        "      --symfs DIR        look for programs, libraries and debug files below DIR\n"
        "      --wide             names in full, also where they are longer than the terminal is wide\n"
        "      --color WHEN       auto, always or never\n"
        "  -q, --quiet            no progress, no notes\n"
        "  -v, --verbose          say more: a longer heading\n"
        "  -h, --help             this text\n",
    .run = report_run,
};
