#include "api/report/reporting_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "image/debuginfod.h"
#include "perfdata/latency.h"

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
    if (!sample_is_of(sample, r->event))
        return r->phasing ? 0 : check_audit(r, process, sample, resolved, err);
    int rc = profile_add(r->profile, engine_map(r->engine), process, sample, resolved, err);
    if (rc == 0 && r->exported && profile_counted(r->profile))
        rc = perf_export_sample(r->exported, engine_map(r->engine), process, sample, resolved, err);
    return rc;
}

int reporting_put(const struct report *report, const struct report_options *options, struct outfile *output,
                  FILE *stream, struct fathom_error *err)
{
    const struct format *format = options->format;
    if (!output)
        return format->binary && options->given.terminal
                   ? error_set(err, ENOTTY, "standard output is a terminal: give a file with -o")
                   : format->write(report, stream, err);
    FILE *out = NULL;
    int rc = output_print(output, &out, err);
    return rc == 0 ? output_printed(output, out, format->write(report, out, err), err) : rc;
}

int reporting_write(struct reporting *r, FILE *stream, struct fathom_error *err)
{
    return r->exported ? perf_export_end(r->exported, r->log, err)
                       : reporting_put(&r->report, r->options, r->output, stream, err);
}

const struct report *reporting_report(const struct reporting *r)
{
    return &r->report;
}

int reporting_contexts(const struct reporting *r, struct contexts *out, struct fathom_error *err)
{
    int found = profile_contexts(r->profile, r->options->profile.phi, out);
    if (found == -ERANGE)
        return error_set(err, ERANGE,
                         "the purging counter lost more than --phi: use --counter lss, or a smaller --eps");
    return found < 0 ? error_memory(err) : 0;
}

bool reporting_tell_unnamed(const struct reporting *r)
{
    static const char *const reasons[] = {
        [KERNEL_OTHER] = "another kernel was recorded than the one that runs here, or it is not known which",
        [KERNEL_HIDDEN] = "the kernel hides its addresses from this user (run as root; kernel.kptr_restrict "
                          "at 2 hides them from root too)",
    };
    enum kernel_named named = profile_kernel_named(r->profile);
    if (named != KERNEL_NAMED)
        log_write(r->log, LOG_NOTE, "functions of the kernel have no names: %s", reasons[named]);
    return named != KERNEL_NAMED;
}

void reporting_tell_uninlined(const struct reporting *r)
{
    struct view_heading h = {0};
    heading_fill_uninlined(&h, r->images);
    if (h.uninlined_count)
        log_write(
            r->log, LOG_NOTE,
            "functions inlined in %s%s are not shown: %.1f MiB of debug information (--inline reads it)",
            h.uninlined[0], h.uninlined_count > 1 ? " and other files" : "",
            (double)h.uninlined_bytes / (1 << 20));
}

bool reporting_inlines(const struct reporting *r, const char *file)
{
    const struct image *image;
    for (size_t i = 0; (image = image_cache_at(r->images, i)); i++)
        if (strcmp(image_name(image), file) == 0 && image_cache_lines(r->images, image, 0))
            return true;
    return false;
}

static const struct cached_maps *kept_of(const struct reporting *r)
{
    return r->first ? &r->first->kept : &r->kept;
}

/* Call it before the samples of another event are read, as the heading describes what was read. */
static int fill_report(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    int rc = reporting_contexts(r, &r->contexts, err);
    if (rc < 0)
        return rc;
    snprintf(r->unit, sizeof r->unit, "%s", metrics_unit(r->contexts.metrics, 0));
    text_clean(r->unit);
    r->view = r->options->view;
    r->view.unit = r->unit;
    r->view.filtered = r->filter != NULL;
    if (r->first || r->options->given.profile.phase_count ||
        r->options->profile.ambiguity != AMBIGUOUS_LIKELY)
        r->view.phasing = NULL; /* the page's phases would have other numbers */
    r->view.images = r->images;
    r->view.inlined = r->options->profile.framing.inlined;
    r->report =
        (struct report){.contexts = &r->contexts, .heading = &r->heading, .view = &r->view, .log = r->log};
    return heading_fill(r, kept_of(r), reader, err);
}

/* The metrics depend on what the samples of the event have. */
static int start_profile(struct reporting *r, const struct event *event, struct fathom_error *err)
{
    struct profile_options profile = r->options->profile;
    int rc = metrics_of(event, r->options->metric, &profile.metrics, err);
    if (rc < 0)
        return rc;
    if (profile.framing.accesses &&
        (!(event->attr.sample_type & PERF_SAMPLE_ADDR) || attr_is_waits(&event->attr)))
        return error_set(
            err, ENOENT,
            "samples of %s have no data addresses: record memory events or page faults with --data",
            event->name);
    if (profile.framing.locks &&
        (!(event->attr.sample_type & PERF_SAMPLE_ADDR) || !attr_is_waits(&event->attr)))
        return error_set(
            err, ENOENT,
            "samples of %s do not tell for which lock a thread waits: record them with --off-cpu",
            event->name);
    if (profile.wakers && !attr_is_wakers(&event->attr))
        return error_set(err, ENOENT, "samples of %s do not tell who ended a wait: record them with --wakers",
                         event->name);
    if (attr_is_wakers(&event->attr) && !profile.wakers)
        profile.wakers = 1;
    profile.filter = r->filter;
    if (r->options->format->recording &&
        !r->filter) /* programs that read it find inlined functions themselves */
        profile.framing.inlined = 0;
    profile.framing.calls = latency_event_of(&event->attr) != LATENCY_NONE;
    profile.samples = r->phasing || (r->options->format->samples && !profile.phi);
    profile.framing.kernel = attr_has_kernel(&event->attr) ? r->options->kernel : NULL;
    profile.framing.kernel_threads = event->attr.sample_type & PERF_SAMPLE_REGS_USER;
    if (r->phasing) { /* as `fathom phases` sets them */
        profile.phi = profile.eps = profile.min_confidence = 0;
        profile.ambiguity = AMBIGUOUS_LIKELY;
    }
    r->profile = profile_new(&profile, r->images);
    return r->profile ? 0 : error_memory(err);
}

static int start_filter(struct reporting *r, struct fathom_error *err)
{
    const struct filter_options *o = &r->options->filter;
    bool any = r->options->given.profile.phase_count || o->pid_count || o->tid_count || o->comm ||
               o->from > 0 || o->to > 0 || o->focus || o->ignore || o->symbol || o->image;
    return any ? filter_new(o, r->images, &r->filter, err) : 0;
}

/* Whether call chains have frames for functions of scripts. */
static bool has_functions(const struct report_options *o)
{
    return strcmp(o->given.output, "-") != 0 && (!o->profile.framing.native || o->profile.framing.script);
}

/* Whether writing the file with the names of frames would replace the recording. */
static bool is_replaced(const struct report_options *o, const char *suffix)
{
    char *path;
    if (asprintf(&path, "%s%s", o->given.output, suffix) < 0)
        return false;
    bool same = output_names(path, o->given.recording);
    free(path);
    return same;
}

int reporting_output(const struct report_options *o, struct outfile **out, struct fathom_error *err)
{
    struct outfile *output = NULL;
    if (o->format->recording &&
        ((o->given.certainty == FATHOM_CERTAINTY_FRAME && is_replaced(o, PERF_CERTAINTY_SUFFIX)) ||
         (has_functions(o) && is_replaced(o, PERF_FUNCTIONS_SUFFIX))))
        return error_set(
            err, EINVAL,
            "%s, the recording that is read, would be replaced by the frames' names: name another output",
            o->given.recording);
    int rc = outfile_open(o->given.output, &output, err);
    if (rc == 0)
        rc = output_spares(output, o->given.recording, o->given.profile.map, err);
    if (rc == 0)
        rc = output_begin(output, err);
    if (rc < 0)
        outfile_close(output);
    else
        *out = output;
    return rc;
}

static int open_inputs(struct reporting *r, const struct engine_options *engine, struct fathom_error *err)
{
    const struct report_options *o = r->options;
    const char *map = archived_map(o->archived, o->given.profile.map);
    r->debuginfod = debuginfod_new(r->log);
    r->images =
        image_cache_new(&(struct image_options){.symfs = archived_root(o->archived, o->given.profile.symfs),
                                                .archived = archived_directory(o->archived),
                                                .log = r->log,
                                                .debuginfod = r->debuginfod});
    r->engine = r->images ? engine_new(r->images, engine, r->log) : NULL;
    int rc = r->engine ? archived_check_root(o->given.profile.symfs, err) : error_memory(err);
    return rc == 0 && map ? pathmap_open(map, &r->map, err) : rc;
}

static int share_inputs(struct reporting *r, const struct engine_options *engine, struct fathom_error *err)
{
    r->images = r->first->images;
    r->map = r->first->map;
    r->engine = engine_beside(r->first->engine, engine, r->log);
    return r->engine ? 0 : error_memory(err);
}

/* first: as in struct reporting. */
static int begin_reporting(const struct report_options *options, struct reporting *first,
                           const struct log *log, const struct progress *progress, struct reporting **out,
                           struct fathom_error *err)
{
    struct reporting *r = calloc(1, sizeof *r);
    if (!r) {
        outfile_close(options->opened);
        return error_memory(err);
    }
    *r = (struct reporting){
        .options = options, .log = log, .progress = progress, .first = first, .output = options->opened};
    r->map_name = archived_map_name(options->archived, options->given.profile.map);
    struct engine_options engine = options->engine;
    engine.progress = progress;
    r->truth = truth_new(NULL);
    r->checked = r->truth ? evaluation_new(r->truth) : NULL;
    int rc = !r->checked ? error_memory(err)
             : first     ? share_inputs(r, &engine, err)
                         : open_inputs(r, &engine, err);
    if (rc == 0)
        rc = start_filter(r, err);
    if (rc < 0)
        reporting_free(r);
    else
        *out = r;
    return rc;
}

int reporting_new(const struct report_options *options, const struct log *log,
                  const struct progress *progress, struct reporting **out, struct fathom_error *err)
{
    return begin_reporting(options, NULL, log, progress, out, err);
}

void reporting_free(struct reporting *r)
{
    if (!r)
        return;
    reporting_free(r->next);
    perf_export_free(r->exported);
    outfile_close(r->output);
    evaluation_free(r->checked);
    truth_free(r->truth);
    engine_free(r->engine);
    engine_free(r->before);
    free(r->spans);
    profile_free(r->profile);
    filter_free(r->filter);
    if (!r->first) {
        pathmap_close(r->map);
        cached_maps_close(&r->kept);
        image_cache_free(r->images);
        debuginfod_free(r->debuginfod);
    }
    free(r);
}

int reporting_begin_live(struct reporting *r, const struct event *events, size_t count,
                         struct fathom_error *err)
{
    return engine_begin_live(r->engine, events, count, err);
}

int reporting_learn(void *reporting, const struct record *record, struct fathom_error *err)
{
    struct reporting *r = reporting;
    return engine_learn(r->engine, record, err);
}

static int begin_export(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    const struct perf_export_options options = {
        r->options->given.output, r->output, r->options->given.certainty, r->options->profile.min_confidence,
        has_functions(r->options)};
    r->output = NULL; /* the export owns it now */
    return perf_export_begin(&options, reader, r->engine, r->event, r->images, &r->exported, err);
}

static int infer_samples(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    const struct event *events;
    reader_events(reader, &events);
    reader_other_events(reader, r->event, r->others, sizeof r->others);
    int rc = start_profile(r, &events[r->event], err);
    if (rc == 0)
        rc = engine_read(r->engine, reader, r->event, r->map, err);
    if (rc == 0 && r->options->format->recording && !r->phasing)
        rc = begin_export(r, reader, err);
    if (rc == 0 && !r->map && !r->first && !r->before &&
        cached_maps_wanted(r->options->given.profile.no_cache))
        rc = cached_maps_find(engine_files(r->engine), archived_kept(r->options->archived), &r->kept, err);
    const struct pathmap *kept = kept_of(r)->map;
    return rc == 0
               ? engine_run(r->engine,
                            &(struct engine_input){reader, r->event, r->map ? r->map : kept, kept != NULL},
                            report_sample, r, err)
               : rc;
}

/* Phases -------------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct report_options *o, uint32_t phase)
{
    for (size_t i = 0; i < o->given.profile.phase_count; i++)
        if ((uint32_t)o->given.profile.phase[i] == phase)
            return true;
    return false;
}

static int check_phases(const struct report_options *o, uint32_t count, struct fathom_error *err)
{
    for (size_t i = 0; i < o->given.profile.phase_count; i++)
        if ((uint32_t)o->given.profile.phase[i] > count)
            return error_set(err, ENOENT, "there is no phase %d: fathom phases finds %u",
                             o->given.profile.phase[i], count);
    return 0;
}

static int keep_spans(struct reporting *r, const struct timeline *timeline, struct fathom_error *err)
{
    uint32_t count, phases;
    const struct phase_interval *intervals = timeline_intervals(timeline, &count);
    timeline_phases(timeline, &phases);
    int rc = check_phases(r->options, phases, err);
    if (rc == 0 && !(r->spans = calloc((size_t)count + 1, sizeof *r->spans)))
        rc = error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        if (is_wanted(r->options, intervals[i].phase))
            r->spans[r->span_count++] = (struct time_span){intervals[i].from, intervals[i].to};
    return rc;
}

/* Infers all samples, and notes the times of the chosen phases. */
static int find_spans(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    struct contexts contexts;
    struct timeline *timeline = NULL;
    r->phasing = true;
    int rc = infer_samples(r, reader, err);
    if (rc == 0)
        rc = profile_contexts(r->profile, 0, &contexts) < 0 ? error_memory(err) : 0;
    if (rc == 0)
        rc = phasing_find(&contexts, &r->options->phasing, &timeline, err);
    if (rc == -ENODATA)
        rc = error_set(err, ENOENT, "there is no phase: the options leave no sample");
    if (rc == 0)
        rc = keep_spans(r, timeline, err);
    timeline_free(timeline);
    profile_free(r->profile);
    r->profile = NULL;
    r->phasing = false;
    return rc;
}

/* Uses another engine from now on, to infer again, only the samples of the phases. */
static int restart_engine(struct reporting *r, struct fathom_error *err)
{
    struct engine_options engine = r->options->engine;
    engine.progress = r->progress;
    r->before = r->engine;
    r->engine = engine_beside(r->before, &engine, r->log);
    return r->engine ? 0 : error_memory(err);
}

/* Infers the samples of r->event. Phases are those of the main event. */
static int infer_event(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    int rc = 0;
    if (r->options->given.profile.phase_count && !r->first) {
        rc = find_spans(r, reader, err);
        if (rc == 0)
            rc = restart_engine(r, err);
    }
    const struct reporting *main = r->first ? r->first : r;
    if (rc == 0 && r->options->given.profile.phase_count)
        filter_times(r->filter, main->spans, main->span_count);
    return rc == 0 ? infer_samples(r, reader, err) : rc;
}

static bool has_wakers(const struct reader *reader)
{
    const struct event *events;
    const size_t count = reader_events(reader, &events);
    for (size_t i = 0; i < count; i++)
        if (attr_is_wakers(&events[i].attr))
            return true;
    return false;
}

int reporting_infer(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    const struct profile_options *o = &r->options->profile;
    const char *waits = o->wakers || (o->framing.locks && has_wakers(reader)) ? EVENT_WAKERS_NAME
                        : o->framing.locks                                    ? EVENT_WAITS_NAME
                                                                              : NULL;
    int rc = reader_main_event(
        reader, r->options->given.profile.event ? r->options->given.profile.event : waits, &r->event, err);
    if (rc == 0)
        rc = infer_event(r, reader, err);
    if (rc == 0 && !r->options->cgroups_optional && profile_lacks_cgroups(r->profile))
        rc = error_set(err, ENOENT,
                       "--by cgroup, container and service: the recording does not tell in which cgroups its "
                       "samples were taken (fathom record -a, --cgroup, --container and --uid, and perf "
                       "record --all-cgroups do)");
    return rc;
}

/* Reports another event, without the requested parts that its samples lack. */
static int add_event(struct reporting *first, struct reader *reader, uint32_t number, struct reporting **out,
                     struct fathom_error *err)
{
    const struct event *events;
    struct report_options own = *first->options;
    struct metrics metrics;
    struct fathom_error why;
    reader_events(reader, &events);
    own.given.output = NULL; /* the first one writes all */
    own.opened = NULL;
    if (metrics_of(&events[number], own.metric, &metrics, &why) < 0)
        own.metric = metric_table;
    own.profile.framing.locks &= attr_is_waits(&events[number].attr);
    if (!attr_is_wakers(&events[number].attr))
        own.profile.wakers = 0;
    own.profile.framing.accesses &=
        (events[number].attr.sample_type & PERF_SAMPLE_ADDR) != 0 && !attr_is_waits(&events[number].attr);
    int rc = begin_reporting(&own, first, first->log, first->progress, out, err);
    if (rc < 0)
        return rc;
    (*out)->own = own;
    (*out)->options = &(*out)->own;
    (*out)->event = number;
    reader_choose_event(reader, number);
    rc = infer_event(*out, reader, err);
    return rc == 0 ? fill_report(*out, reader, err) : rc;
}

/* Appends reports of the other events that have samples. */
static int add_events(struct reporting *first, struct reader *reader, struct fathom_error *err)
{
    struct reporting *last = first;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && (i = reader_next_event(reader, i)) != UINT32_MAX; i++) {
        struct reporting *other = NULL;
        if (i == first->event)
            continue;
        rc = add_event(first, reader, i, &other, err);
        if (rc < 0 || other->heading.samples == 0) {
            reporting_free(other);
            continue;
        }
        last->next = other;
        last->report.next = &other->report;
        last = other;
    }
    return rc;
}

static void tell_faults(const struct reporting *r)
{
    char fault[HEADING_FAULT_TEXT];
    for (unsigned i = 0; i < HEADING_FAULTS; i++)
        if (view_heading_fault(&r->heading, i, fault))
            log_write(r->log, LOG_WARNING, "%s", fault);
}

int reporting_run(struct reporting *r, struct reader *reader, struct fathom_error *err)
{
    int rc = reporting_infer(r, reader, err);
    if (rc < 0)
        return rc;
    reporting_tell_unnamed(r);
    if (r->options->format != format_table) /* whose heading says it */
        reporting_tell_uninlined(r);
    rc = fill_report(r, reader, err);
    if (rc == 0 && r->options->format != format_table)
        tell_faults(r);
    if (rc == 0 && r->options->format->events && !r->options->given.profile.event)
        rc = add_events(r, reader, err);
    return rc;
}

bool reporting_tell_empty(const struct reporting *r)
{
    if (r->heading.samples || r->next)
        return false;
    log_write(r->log, LOG_WARNING, "%s",
              r->heading.left_out ? "the options leave no sample"
              : r->heading.allocations
                  ? "the event has no sampled allocation: record with a smaller --alloc-bytes for more"
                  : "nothing was sampled");
    return r->heading.left_out > 0;
}

struct image_cache *reporting_images(const struct reporting *r)
{
    return r->images;
}

bool reporting_stale(const struct reporting *r)
{
    return engine_stale(r->engine) || image_cache_other_build(r->images);
}
