/* recorder.c - records into perf.data files; see record.h and recorder.h. */
#include "api/record/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/cached_maps.h"
#include "api/host.h"
#include "api/record/allocations.h"
#include "api/record/control_socket.h"
#include "api/record/java_maps.h"
#include "api/record/part.h"
#include "api/record/series.h"
#include "api/record/target.h"
#include "base/clock.h"
#include "collector/probes/probes.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/reader.h"

#define AUDIT_HZ          10
#define AUDIT_STACK_BYTES 65528
#define RETRY_NS          10000000000 /* to open another file */
#define FLUSH_NS          500000000   /* half of the second that fathom-record(1) promises */

struct fathom_recorder {
    struct fathom_recorder_options options;
    struct host host;
    struct allocations *allocations; /* NULL: they are not sampled */
    struct part *part;
    struct part *next;     /* will continue with the target; NULL: none */
    struct series *series; /* NULL: there is only one part */
    uint64_t retry;   /* when opening another part may be retried after a failure, ns; 0: it did not fail */
    bool told;        /* that failure was reported */
    uint64_t samples; /* of parts that were completed */
    bool nothing;     /* nothing was sampled */
    uint64_t flushed; /* when the writer's buffer was last flushed, ns */
    uint64_t began;   /* when the part began, ns */
    uint64_t ends;    /* when the recording ends, ns; 0: when its target ends */
    uint64_t
        from; /* the part's size at its first check, i.e. records of what already ran at its begin; 0: not yet checked */
    atomic_bool stop;
    struct phase_control control;
    struct control_socket *socket; /* NULL: none */
    struct java_maps *java;        /* NULL: no HotSpot is asked */
};

static bool is_series(const struct fathom_recorder_options *o)
{
    return o->part_bytes || o->part_seconds > 0;
}

static int record_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct fathom_recorder *r = context;
    return part_add(r->part, records, size, err);
}

static void show_status(const struct fathom_recorder *r)
{
    struct collector_summary summary;
    collector_summary(part_collector(r->part), &summary);
    host_status(&r->host, "%llu samples, %.1f MB", (unsigned long long)(r->samples + summary.samples),
                (double)part_size(r->part) / 1e6);
}

static int open_part(struct fathom_recorder *r, const struct part *before, struct part **out,
                     struct fathom_error *err)
{
    const struct fathom_recorder_options *o = &r->options;
    const struct part_input input = {.options = o,
                                     .host = &r->host,
                                     .control = &r->control,
                                     .java = r->java,
                                     .allocations = r->allocations,
                                     .before = before};
    struct outfile *file = NULL;
    int fd;
    /* Before the command is forked, so that it does not inherit the stream being written. */
    int rc = r->series                     ? series_next(r->series, &file, err)
             : strcmp(o->output, "-") == 0 ? outfile_stream(o->stream, &file, err)
                                           : outfile_open(o->output, &file, err);
    const bool named = rc == 0;
    if (rc == 0 && before) /* while the previous part can still continue */
        rc = outfile_begin(file, &fd, err);
    if (rc == 0)
        rc = part_open(&input, &file, out, err);
    if (rc < 0 && named && r->series)
        series_drop(r->series);
    outfile_close(file);
    return rc;
}

static int next_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct fathom_recorder *r = context;
    return part_add(r->next, records, size, err);
}

/* Switches to another part, which is opened while this one still records. 1; 0: it cannot be opened, e.g. as the processes have
 * ended: this part continues; or negative. */
static int go_on(struct fathom_recorder *r, struct fathom_error *err)
{
    struct fathom_error why;
    int rc = open_part(r, r->part, &r->next, &why);
    if (rc < 0) {
        /* A target that has just ended needs no other part. */
        if (!r->told && (why.code != ESRCH || r->retry)) {
            log_write(&r->host.log, LOG_WARNING, "cannot go on in another file: %s: this one goes on",
                      why.text);
            r->told = true;
        }
        r->retry = clock_ns() + RETRY_NS;
        return 0;
    }
    r->retry = 0;
    r->told = false;
    rc = part_begin(r->next, err);
    if (rc == 0)
        rc = collector_start(part_collector(r->next), next_sink, r, err);
    return rc < 0 ? rc : 1;
}

/* Completes a file. */
static int end_part(struct fathom_recorder *r, struct part *part, int rc, struct fathom_error *err)
{
    struct collector_summary summary;
    bool nothing;
    rc = part_end(part, rc, &nothing, err);
    if (rc == 0)
        part_keep(part);
    collector_summary(part_collector(part), &summary);
    r->samples += summary.samples;
    r->nothing = nothing && r->samples == 0;
    return rc;
}

/* Completes the part, and continues with the next one, which already records. */
static int take_next(struct fathom_recorder *r, struct fathom_error *err)
{
    struct part *before = r->part;
    r->part = r->next;
    r->next = NULL;
    int rc = end_part(r, before, 0, err);
    part_close(before);
    return rc;
}

static bool is_full(const struct fathom_recorder *r, uint64_t now)
{
    const struct fathom_recorder_options *o = &r->options;
    return r->series && now >= r->retry && (!r->ends || now < r->ends) &&
           ((o->part_bytes && part_size(r->part) - r->from >= o->part_bytes) ||
            (o->part_seconds > 0 && (double)(now - r->began) >= o->part_seconds * 1e9));
}

/* Writes what was drained to the file within FLUSH_NS, so that it survives this process. */
static int record_progress(void *context, struct fathom_error *err)
{
    struct fathom_recorder *r = context;
    uint64_t now = clock_ns();
    if (now - r->flushed >= FLUSH_NS) {
        r->flushed = now;
        int rc = part_flush(r->part, err);
        if (rc < 0)
            return rc;
        if (r->series) /* now that this one is there */
            series_trim(r->series);
    }
    if (host_asks_status(&r->host))
        show_status(r);
    if (r->socket)
        control_socket_serve(r->socket);
    if (!r->from)
        r->from = part_size(r->part);
    return is_full(r, now) ? go_on(r, err) : 0;
}

bool recorder_say_losses(const struct collector *collector, const struct log *log)
{
    struct collector_summary summary, *s = &summary;
    char why[512];
    enum log_level level;
    collector_summary(collector, s);
    if (s->lost)
        log_write(log, LOG_WARNING, "%llu record%s lost: sample less often or use a larger --ring",
                  (unsigned long long)s->lost, s->lost == 1 ? " was" : "s were");
    if (s->stacks_crowded)
        log_write(log, s->stacks_crowded > s->samples / 100 ? LOG_WARNING : LOG_NOTE,
                  "%llu new stack%s not read, as they came faster than they could be taken in: use a larger "
                  "--ring, or the paths of some samples are inferred",
                  (unsigned long long)s->stacks_crowded, s->stacks_crowded == 1 ? " was" : "s were");
    if (s->stacks_returned)
        log_write(log, LOG_NOTE,
                  "the stacks of %llu precise sample%s (%.1f%%) were not compared, as their function may "
                  "have returned before they could be read: their paths are inferred",
                  (unsigned long long)s->stacks_returned, s->stacks_returned == 1 ? "" : "s",
                  100 * (double)s->stacks_returned / (double)(s->samples ? s->samples : 1));
    if (s->throttled)
        log_write(log, LOG_WARNING, "the kernel throttled the event %llu times",
                  (unsigned long long)s->throttled);
    if (s->bases_missing &&
        !collector_verify(collector)) /* else the base is known from a stack that was read */
        log_write(log, LOG_NOTE,
                  "%llu thread%s ended before the stack could be located: %s samples may have no path",
                  (unsigned long long)s->bases_missing, s->bases_missing == 1 ? "" : "s",
                  s->bases_missing == 1 ? "its" : "their");
    bool nothing = collector_why_nothing(collector, why, sizeof why);
    if (nothing)
        log_write(log, LOG_WARNING, "nothing was sampled: %s", why);
    if (collector_silent(collector, &level, why, sizeof why))
        log_write(log, level, "%s", why);
    return nothing;
}

void recorder_collector(const struct fathom_recorder_options *options, const struct log *log,
                        struct collector_options *out)
{
    target_collector(&options->target, log, out);
    out->event.data_address = options->data;
    out->switched = options->phase_interval > 0;
    out->trigger = options->trigger;
    out->event.kernel = options->kernel;
    out->waits = options->off_cpu || options->wall || options->wakers;
    out->wakers = options->wakers;
    out->wall = options->wall;
    if (options->wall) {
        out->event.kernel = true;
        out->event.name = out->event.name ? out->event.name : "cpu-clock";
    }
    bool by_default = options->audit_hz == FATHOM_AUDIT_DEFAULT;
    out->audit_hz = by_default ? AUDIT_HZ : options->audit_hz;
    out->audit_instead = out->audit_adapts = by_default;
    out->event.batches = options->passive;
    if (options->map) /* the map has what a faster clock would find */
        out->audit_adapts = false;
    if ((!by_default || options->passive) && out->verify.wish == VERIFY_BY_DEFAULT)
        out->verify.wish = VERIFY_NEVER;
    out->audit_stack_size = options->audit_stack ? (uint32_t)options->audit_stack : AUDIT_STACK_BYTES;
    out->unwound_elsewhere = options->stack_samples;
    out->verify.joins = !options->keep_stacks && !options->stack_samples;
    out->scope = options->scope == FATHOM_SCOPE_CPU      ? COLLECT_BY_CPU
                 : options->scope == FATHOM_SCOPE_THREAD ? COLLECT_BY_THREAD
                                                         : COLLECT_BY_CPU_IF_ALLOWED;
    out->ring_bytes = options->ring_kib * 1024;
}

int recorder_check_options(const struct fathom_recorder_options *options, struct fathom_error *err)
{
    struct pathmap *map = NULL;
    if (is_series(options) && options->output && strcmp(options->output, "-") == 0)
        return error_set(err, EINVAL, "a recording in several files cannot go to the standard output");
    if ((options->part_bytes && options->part_bytes < FATHOM_PART_BYTES) ||
        (options->part_seconds > 0 && options->part_seconds < FATHOM_PART_SECONDS))
        return error_set(err, EINVAL, "a recording in several files is of files of 1 MB or 1 s at least");
    const char *needs_phases = options->trigger                                ? "--trigger"
                               : options->control                              ? "--control"
                               : options->phase_policy || options->phase_share ? "--phases-policy"
                                                                               : NULL;
    if (needs_phases && !(options->phase_interval > 0))
        return error_set(err, EINVAL, "%s tells when the events of --phases are on: give --phases, too",
                         needs_phases);
    int rc = options->map ? pathmap_open(options->map, &map, err) : 0;
    pathmap_close(map);
    return rc;
}

int fathom_recorder_check(const struct fathom_recorder_options *options, struct fathom_error *err)
{
    const struct log silent = {0};
    struct collector_options o;
    struct event events[EVENT_PARSED];
    size_t count;
    uint64_t most;
    recorder_collector(options, &silent, &o);
    struct allocations *allocations = NULL;
    int rc = recorder_check_options(options, err);
    if (rc == 0)
        rc = allocations_new(options, &allocations, err);
    allocations_use(allocations, &o);
    struct probes *probes = NULL;
    if (rc == 0)
        rc = probes_new(o.event.name, false, o.pids, o.pid_count, &silent, &probes, err);
    if (rc == 0) {
        o.event.name = probes_names(probes);
        rc = events_parse(&o.event, &silent, events, &count, err);
    }
    probes_free(probes);
    allocations_free(allocations);
    if (rc == 0 && o.trigger)
        rc = trigger_events(o.trigger, o.event.pmus, events, &count, &most, err);
    return rc;
}

int fathom_recorder_open(const struct fathom_recorder_options *options,
                         const struct fathom_listener *listener, struct fathom_recorder **recorder,
                         struct fathom_error *err)
{
    struct fathom_recorder *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(err);
    r->options = *options;
    host_init(&r->host, listener);
    int rc = recorder_check_options(options, err);
    if (rc == 0 && is_series(options) &&
        !(r->series = series_new(options->output, options->parts_kept, &r->host.log)))
        rc = error_memory(err);
    if (rc == 0 && options->java_map) /* before there are files to inherit */
        rc = java_maps_new(&r->java, err);
    if (rc == 0)
        rc = allocations_new(options, &r->allocations, err);
    if (rc == 0)
        rc = open_part(r, NULL, &r->part, err);
    if (rc == 0 && options->control)
        rc = control_socket_open(options->control, &r->control, &r->socket, err);
    if (rc < 0)
        fathom_recorder_close(r);
    else
        *recorder = r;
    return rc;
}

int fathom_recorder_run(struct fathom_recorder *r, struct fathom_error *err)
{
    struct target_user user = {
        .sink = record_sink, .sink_context = r, .progress = record_progress, .context = r};
    struct fathom_target target = r->options.target;
    r->began = clock_ns();
    r->ends = target.duration > 0 ? r->began + (uint64_t)(target.duration * 1e9) : 0;
    int rc = part_begin(r->part, err);
    if (rc == 0)
        rc = target_observe(&target, part_collector(r->part), &user, &r->stop, NULL, err);
    user.started = true;
    while (r->next) {
        int ended = take_next(r, rc ? NULL : err);
        rc = rc < 0 ? rc : ended;
        r->began = clock_ns();
        r->from = 0;
        if (target.duration > 0)
            target.duration = r->ends > r->began ? (double)(r->ends - r->began) * 1e-9 : 1e-3;
        if (rc == 0)
            rc = target_observe(&target, part_collector(r->part), &user, &r->stop, NULL, err);
    }
    if (rc < 0) /* nobody supervises the command */
        collector_signal(part_collector(r->part), SIGTERM);
    rc = end_part(r, r->part, rc, err);
    if (rc == 0 && r->series)
        series_trim(r->series);
    control_socket_close(r->socket); /* later, the caller's rights may not suffice for this */
    r->socket = NULL;
    return rc;
}

void recorder_summary(const struct collector *collector, bool nothing, struct fathom_recorder_summary *out)
{
    struct collector_summary s;
    collector_summary(collector, &s);
    *out = (struct fathom_recorder_summary){
        .samples = s.samples, .nothing = nothing, .status = collector_status(collector)};
}

void fathom_recorder_stop(struct fathom_recorder *r)
{
    atomic_store(&r->stop, true);
}

void fathom_recorder_control(struct fathom_recorder *r, enum fathom_control control)
{
    phase_control_ask(&r->control, control);
}

void fathom_recorder_summary(const struct fathom_recorder *r, struct fathom_recorder_summary *out)
{
    recorder_summary(part_collector(r->part), r->nothing, out);
    out->samples = r->samples;
}

void fathom_recorder_keep(struct fathom_recorder *r)
{
    const char *output = r->options.output;
    struct reader *reader;
    struct stat st;
    if (r->series || !cached_maps_wanted(r->options.no_cache) || strcmp(output, "-") == 0 ||
        stat(output, &st) != 0 || !S_ISREG(st.st_mode) || reader_open(output, NULL, &reader, NULL) < 0)
        return;
    cached_maps_add(reader, part_images(r->part), &r->host.log, host_is_verbose(&r->host));
    reader_close(reader);
}

void fathom_recorder_close(struct fathom_recorder *r)
{
    if (!r)
        return;
    control_socket_close(r->socket);
    part_close(r->next);
    part_close(r->part);
    series_free(r->series);
    allocations_free(r->allocations);
    java_maps_free(r->java);
    free(r);
}
