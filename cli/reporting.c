/* reporting.c - see reporting.h. */
#include "cli/reporting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/inferred.h"
#include "cli/kept_maps.h"
#include "cli/output.h"
#include "cli/symfs.h"
#include "evaluate/evaluation.h"
#include "image/debuginfod.h"
#include "report/text/weight.h"

struct reporting {
    const struct report_options *options;
    struct terminal *terminal;
    struct debuginfod *debuginfod;
    struct image_cache *images;
    struct pathmap *map;   /* NULL: none was given */
    const char *map_name;  /* as it was given */
    struct kept_maps kept; /* if none was given */
    struct engine *engine;
    struct filter *filter;   /* NULL: all samples count */
    struct profile *profile; /* NULL before the event is known */
    uint32_t event;
    char others[256];       /* names of the other events */
    struct outfile *output; /* NULL: standard output */
    struct truth *truth;    /* of the audit samples held back for checking */
    struct evaluation *checked;
    struct perf_export *exported; /* NULL: the format is none */
};

/* Checks a held-back audit sample; each counts as one, regardless of its weight. */
static int check_audit(struct reporting *r, const struct process *process, const struct sample *sample,
                       const struct resolved *resolved, struct fathom_error *err)
{
    struct sample one = *sample;
    one.period = 1;
    return evaluation_add(r->checked, engine_map(r->engine), process, &one, resolved, err);
}

static int report_sample(void *context, const struct process *process, const struct sample *sample,
                         const struct resolved *resolved, struct fathom_error *err)
{
    struct reporting *r = context;
    if (sample->event != r->event)
        return check_audit(r, process, sample, resolved, err);
    int rc = profile_add(r->profile, engine_map(r->engine), process, sample, resolved, err);
    if (rc == 0 && r->exported && profile_counted(r->profile))
        rc = perf_export_sample(r->exported, engine_map(r->engine), process, sample, resolved, err);
    return rc;
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

/* fathom record follows the event or, where it may not do that, adds an audit event. */
static void find_kinds(const struct reader *reader, bool *audits, bool *stacks)
{
    const struct event *events;
    *audits = *stacks = false;
    for (size_t i = reader_events(reader, &events); i-- > 0;) {
        *audits |= events[i].audit;
        *stacks |= events[i].stacks;
    }
}

static int fill_heading(struct view_heading *h, const struct reporting *r, struct reader *reader,
                        const struct event *event, struct fathom_error *err)
{
    static const char *reasons[UNKNOWN_REASONS];
    for (unsigned i = 0; i < UNKNOWN_REASONS; i++)
        reasons[i] = unknown_reason_text((enum unknown_reason)i);
    struct profile_counts counts;
    profile_counts(r->profile, &counts);
    struct reader_summary summary;
    reader_summary(reader, &summary);
    struct engine_summary learned;
    engine_summary(r->engine, &learned);
    bool audits, followed;
    find_kinds(reader, &audits, &followed);
    struct score checked;
    int rc = evaluation_score(r->checked, &checked, err);
    if (rc < 0)
        return rc;
    *h = (struct view_heading){
        .command = reader_command(reader),
        .event = event->name,
        .other_events = r->others,
        .user_only = event->attr.exclude_kernel,
        .map = r->map_name,
        .kept = r->kept.recordings,
        .samples = counts.samples,
        .weight = counts.weight,
        .left_out = counts.left_out,
        .precise = counts.precise,
        .ambiguous = counts.ambiguous,
        .inferred = counts.inferred,
        .unknown = counts.unknown,
        .reason_text = reasons,
        .reason_count = UNKNOWN_REASONS,
        .expected = counts.expected,
        .expected_least = counts.expected_least,
        .expected_most = counts.expected_most,
        .training = r->map_name || r->kept.map ? NULL : recorded_command(reader),
        .rests_on_inference = counts.inferred + counts.ambiguous + counts.unknown_by_reason[UNKNOWN_CONTEXT],
        .followed = followed,
        .verified = counts.by_source[SOURCE_VERIFIED],
        .unwound = counts.by_source[SOURCE_UNWOUND],
        .chains = counts.by_source[SOURCE_CHAIN],
        .compared = counts.by_source[SOURCE_COMPARED],
        .seen = counts.by_source[SOURCE_CID] - counts.inferred,
        .refused = counts.refused,
        .audit_samples = learned.learned,
        .audits_checked = (uint64_t)checked.all.weight,
        .audits_right = (uint64_t)checked.right.weight,
        .inferences = inferences_of(&learned),
        .unread = learned.unread,
        .unread_count = learned.unread_count,
        .lost = summary.lost,
        .lost_weight = lost_weight(&summary, counts.weight),
        .foreign = !summary.stacks && !audits && !followed,
        .other_event =
            !followed && !attr_is_clock(&event->attr) && !(event->attr.sample_type & PERF_SAMPLE_STACK_USER),
        .base_unknown = counts.unknown_by_reason[UNKNOWN_BASE],
        .bare = counts.unknown_by_reason[UNKNOWN_REGISTERS],
        .counted =
            r->options->metric == metric_table && !r->filter ? summary.counted : 0, /* in the event's unit */
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

/* Writes the report to standard output, or to a file, which replaces an existing one only when it is complete. */
static int put_out(const struct reporting *r, const struct report *report, struct fathom_error *err)
{
    const struct format *format = r->options->format;
    if (r->exported)
        return perf_export_end(r->exported, &r->terminal->log, err);
    if (!r->options->output)
        return format->binary && isatty(STDOUT_FILENO)
                   ? error_set(err, ENOTTY, "standard output is a terminal: give a file with -o")
                   : format->write(report, stdout, err);
    int fd = -1, rc = outfile_begin(r->output, &fd, err);
    int copy = rc == 0 ? dup(fd) : -1;
    FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (rc == 0 && !out)
        rc = error_system(err, errno, "cannot write %s", r->options->output);
    if (rc == 0)
        rc = format->write(report, out, err);
    if (out && fclose(out) != 0 && rc == 0)
        rc = error_system(err, errno, "cannot write %s", r->options->output);
    if (rc == 0)
        rc = outfile_publish(r->output, false, err);
    return rc;
}

int reporting_contexts(const struct reporting *r, struct contexts *out, struct fathom_error *err)
{
    int found = profile_contexts(r->profile, r->options->phi, out);
    if (found == -ERANGE)
        return error_set(err, ERANGE,
                         "the purging counter lost more than --phi: use --counter lss, or a smaller --eps");
    return found < 0 ? error_memory(err) : 0;
}

/* Says why the kernel's functions have no names. */
static void tell_unnamed(const struct reporting *r)
{
    static const char *const reasons[] = {
        [KERNEL_OTHER] = "another kernel was recorded than the one that runs here, or it is not known which",
        [KERNEL_HIDDEN] = "the kernel hides its addresses from this user (run as root; kernel.kptr_restrict "
                          "at 2 hides them from root too)",
    };
    enum kernel_named named = profile_kernel_named(r->profile);
    if (named != KERNEL_NAMED)
        terminal_say(r->terminal, LOG_NOTE, "functions of the kernel have no names: %s", reasons[named]);
}

static int write_report(struct reporting *r, struct reader *reader, const struct event *event,
                        struct fathom_error *err)
{
    struct contexts contexts;
    int rc = reporting_contexts(r, &contexts, err);
    if (rc < 0)
        return rc;
    struct view_options view = r->options->view;
    char unit[sizeof event->name];
    snprintf(unit, sizeof unit, "%s", metrics_unit(contexts.metrics, 0));
    text_clean(unit);
    view.unit = unit;
    view.filtered = r->filter != NULL;
    view.images = image_cache_options(r->images);
    view.max_rows = (unsigned)r->options->rows;
    view.colour = (!r->options->output || r->options->colour == COLOUR_ALWAYS) &&
                  terminal_colour(r->options->colour, stdout);
    view.width = r->options->wide || r->options->output ? 0 : terminal_width(stdout);
    view.verbose = r->terminal->verbose;
    struct view_heading heading;
    struct report report = {&contexts, &heading, &view};
    rc = fill_heading(&heading, r, reader, event, err);
    return rc == 0 ? put_out(r, &report, err) : rc;
}

/* The metrics depend on what the event's samples carry. */
static int start_profile(struct reporting *r, const struct event *event, struct fathom_error *err)
{
    struct profile_options profile = r->options->profile;
    int rc = metrics_of(event, r->options->metric, &profile.metrics, err);
    if (rc < 0)
        return rc;
    if (profile.framing.accesses && !(event->attr.sample_type & PERF_SAMPLE_ADDR))
        return error_set(
            err, ENOENT,
            "samples of %s have no data addresses: record memory events or page faults with --data",
            event->name);
    profile.filter = r->filter;
    profile.samples = r->options->format->samples;
    profile.framing.kernel = attr_has_kernel(&event->attr) ? r->options->kernel : NULL;
    profile.framing.kernel_threads = event->attr.sample_type & PERF_SAMPLE_REGS_USER;
    r->profile = profile_new(&profile, r->images);
    return r->profile ? 0 : error_memory(err);
}

static int start_filter(struct reporting *r, struct fathom_error *err)
{
    struct filter_options o = r->options->filter;
    o.pids = r->options->pids.pids;
    o.pid_count = r->options->pids.count;
    o.tids = r->options->tids.pids;
    o.tid_count = r->options->tids.count;
    bool any = o.pid_count || o.tid_count || o.comm || o.from > 0 || o.to > 0 || o.focus || o.ignore ||
               o.symbol || o.image;
    return any ? filter_new(&o, &r->filter, err) : 0;
}

/* Before the long work. What is read is not replaced: nobody can make a recording again from its report. */
static int open_output(struct reporting *r, struct fathom_error *err)
{
    const struct report_options *o = r->options;
    int rc = outfile_open(o->output, &r->output, err);
    if (rc < 0)
        return rc;
    if (output_is(r->output, o->input))
        return error_set(err, EINVAL, "%s is the recording that is read: name another output", o->output);
    if (output_is(r->output, o->map))
        return error_set(err, EINVAL, "%s is the map that is read: name another output", o->output);
    return 0;
}

int reporting_new(const struct report_options *options, struct terminal *terminal, struct reporting **out,
                  struct fathom_error *err)
{
    struct reporting *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(err);
    r->options = options;
    r->terminal = terminal;
    r->debuginfod = debuginfod_new(&terminal->log);
    r->images =
        image_cache_new(&(struct image_options){.symfs = archived_root(options->archived, options->symfs),
                                                .archived = archived_directory(options->archived),
                                                .log = &terminal->log,
                                                .debuginfod = r->debuginfod});
    const char *map = archived_map(options->archived, options->map);
    r->map_name = archived_map_name(options->archived, options->map);
    struct engine_options engine = options->engine;
    engine.progress = &terminal->progress;
    r->engine = r->images ? engine_new(r->images, &engine, &terminal->log) : NULL;
    r->truth = truth_new(NULL);
    r->checked = r->truth ? evaluation_new(r->truth) : NULL;
    int rc = r->engine && r->checked ? symfs_check(options->symfs, err) : error_memory(err);
    if (rc == 0)
        rc = start_filter(r, err);
    if (rc == 0 && options->output && !options->format->recording)
        rc = open_output(r, err);
    if (rc == 0 && map)
        rc = pathmap_open(map, &r->map, err);
    if (rc < 0)
        reporting_free(r);
    else
        *out = r;
    return rc;
}

void reporting_free(struct reporting *r)
{
    if (!r)
        return;
    perf_export_free(r->exported);
    outfile_close(r->output);
    evaluation_free(r->checked);
    truth_free(r->truth);
    engine_free(r->engine);
    profile_free(r->profile);
    filter_free(r->filter);
    pathmap_close(r->map);
    kept_maps_close(&r->kept);
    image_cache_free(r->images);
    debuginfod_free(r->debuginfod);
    free(r);
}

int reporting_begin_live(struct reporting *r, const struct event *events, size_t count,
                         struct fathom_error *err)
{
    return engine_begin_live(r->engine, events, count, 0, err);
}

int reporting_learn(void *reporting, const struct record *record, struct fathom_error *err)
{
    struct reporting *r = reporting;
    return engine_learn(r->engine, record, err);
}

int reporting_infer(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    const struct event *events;
    reader_events(reader, &events);
    int rc = reader_main_event(reader, r->options->event, &r->event, err);
    if (rc == 0) {
        reader_other_events(reader, r->event, r->others, sizeof r->others);
        rc = start_profile(r, &events[r->event], err);
    }
    if (rc == 0 && r->options->format->recording)
        rc = perf_export_begin(&(struct perf_export_options){r->options->output, r->options->certainty,
                                                             r->options->profile.min_confidence},
                               reader, r->event, r->images, &r->exported, err);
    if (rc == 0 && !r->map && kept_maps_wanted(r->options->no_cache))
        rc = kept_maps_find(reader, archived_kept(r->options->archived), &r->kept, err);
    if (rc == 0)
        rc = engine_run(
            r->engine,
            &(struct engine_input){reader, r->event, r->map ? r->map : r->kept.map, r->kept.map != NULL},
            report_sample, r, err);
    terminal_progress_end(r->terminal);
    return rc;
}

int reporting_run(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    const struct event *events;
    int rc = reporting_infer(r, reader, err);
    if (rc < 0)
        return rc;
    reader_events(reader, &events);
    tell_unnamed(r);
    return write_report(r, reader, &events[r->event], err);
}

int reporting_code(const struct reporting *r)
{
    /* The report is printed nevertheless; the affected samples are unknown. */
    return engine_stale(r->engine) || image_cache_other_build(r->images) ? EXIT_BUILD : EXIT_OK;
}
