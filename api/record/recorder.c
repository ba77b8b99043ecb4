/* recorder.c - records into a perf.data file; see record.h and recorder.h. */
#include "api/record/recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/host.h"
#include "api/cached_maps.h"
#include "api/record/learning.h"
#include "api/record/mapped_sink.h"
#include "api/record/stack_sink.h"
#include "api/record/target.h"
#include "base/clock.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

#define AUDIT_HZ          10
#define AUDIT_STACK_BYTES 65528
#define FLUSH_NS          500000000 /* half of the second that fathom-record(1) promises */

struct fathom_recorder {
    struct fathom_recorder_options options;
    struct host host;
    struct collector_options collect; /* borrowed by the collector */
    struct collector *collector;
    struct writer *writer;
    struct mapped_sink *sink;
    struct stack_sink *stacks; /* NULL: stack records are written as they are */
    struct learning *learning;
    bool nothing;     /* was sampled */
    uint64_t flushed; /* when the writer's buffer was last flushed, ns */
    atomic_bool stop;
};

static int record_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct fathom_recorder *r = context;
    return mapped_sink_add(r->sink, records, size, err);
}

/* Writes what was drained to the file within FLUSH_NS, so that it survives this process. */
static int record_progress(void *context, struct fathom_error *err)
{
    struct fathom_recorder *r = context;
    uint64_t now = clock_ns();
    if (now - r->flushed >= FLUSH_NS) {
        r->flushed = now;
        int rc = writer_flush(r->writer, err);
        if (rc < 0)
            return rc;
    }
    if (host_asks_status(&r->host)) {
        struct collector_summary summary;
        collector_summary(r->collector, &summary);
        host_status(&r->host, "%llu samples, %.1f MB", (unsigned long long)summary.samples,
                    (double)writer_size(r->writer) / 1e6);
    }
    return 0;
}

/* Stock perf reads a recording of tracepoints only with their formats. */
static int write_tracing_data(struct fathom_recorder *r, struct fathom_error *err)
{
    uint8_t *data = NULL;
    size_t size;
    int rc = collector_tracing_data(r->collector, &data, &size, err);
    if (rc == 0 && size)
        rc = writer_tracing_data(r->writer, data, size, err);
    free(data);
    return rc;
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
        log_write(
            log, LOG_NOTE,
            "the stacks of %llu precise sample%s (%.1f%%) were not compared, as their function may have "
            "returned before they could be read: their paths are inferred",
            (unsigned long long)s->stacks_returned, s->stacks_returned == 1 ? "" : "s",
            100 * (double)s->stacks_returned / (double)(s->samples ? s->samples : 1));
    if (s->throttled)
        log_write(log, LOG_WARNING, "the kernel throttled the event %llu times",
                  (unsigned long long)s->throttled);
    if (s->bases_missing)
        log_write(log, LOG_NOTE, "%llu thread%s ended before the stack could be located",
                  (unsigned long long)s->bases_missing, s->bases_missing == 1 ? "" : "s");
    bool nothing = collector_why_nothing(collector, why, sizeof why);
    if (nothing)
        log_write(log, LOG_WARNING, "nothing was sampled: %s", why);
    if (collector_silent(collector, &level, why, sizeof why))
        log_write(log, level, "%s", why);
    return nothing;
}

static void say_summary(struct fathom_recorder *r, double bytes)
{
    struct collector_summary s;
    collector_summary(r->collector, &s);
    bool large = bytes >= 1e6;
    bool follows = collector_follows(r->collector);
    uint64_t stacks = follows ? s.stacks_new : s.audit_samples;
    log_write(&r->host.log, LOG_NOTE, "%llu sample%s and %llu %s%s in %s (%.1f %s)",
              (unsigned long long)s.samples, s.samples == 1 ? "" : "s", (unsigned long long)stacks,
              follows ? "new stack" : "audit sample", stacks == 1 ? "" : "s", outfile_name(r->options.output),
              bytes / (large ? 1e6 : 1e3), large ? "MB" : "KB");
    r->nothing = recorder_say_losses(r->collector, &r->host.log);
}

/* Closes the file even after a failure, so that what was recorded stays readable. A failure before the first
 * sample, such as a missing command, keeps the previous file. Prints the summary once all is written. */
static int end_file(struct fathom_recorder *r, int rc, struct fathom_error *err)
{
    struct collector_summary s;
    struct writer *writer = r->writer;
    collector_summary(r->collector, &s);
    double bytes = (double)writer_size(writer);
    r->writer = NULL;
    if (rc < 0 && !s.samples && !s.audit_samples) {
        writer_discard(writer);
        return rc;
    }
    int closed = writer_close(writer, rc ? NULL : err);
    if (rc == 0 && closed == 0)
        say_summary(r, bytes);
    return rc < 0 ? rc : closed;
}

void recorder_collector(const struct fathom_recorder_options *options, const struct log *log,
                        struct collector_options *out)
{
    target_collector(&options->target, log, out);
    out->event.data_address = options->data;
    out->event.kernel = options->kernel;
    bool by_default = options->audit_hz == FATHOM_AUDIT_DEFAULT;
    out->audit_hz = by_default ? AUDIT_HZ : options->audit_hz;
    out->audit_instead = out->audit_adapts = by_default;
    out->event.batches = options->passive;
    if (options->map) /* which has what a faster clock would find */
        out->audit_adapts = false;
    if ((!by_default || options->passive) && out->verify.wish == VERIFY_BY_DEFAULT)
        out->verify.wish = VERIFY_NEVER;
    out->audit_stack_size = options->audit_stack ? (uint32_t)options->audit_stack : AUDIT_STACK_BYTES;
    out->unwound_elsewhere = options->stack_samples;
    out->scope = options->scope == FATHOM_SCOPE_CPU      ? COLLECT_BY_CPU
                 : options->scope == FATHOM_SCOPE_THREAD ? COLLECT_BY_THREAD
                                                         : COLLECT_BY_CPU_IF_ALLOWED;
    out->ring_bytes = options->ring_kib * 1024;
}

/* The writer, with the events that the file is to have. It takes *out. */
static int open_writer(struct fathom_recorder *r, struct outfile **out, struct fathom_error *err)
{
    const struct event *events;
    size_t count = collector_events(r->collector, &events);
    if (r->options.stack_samples && collector_follows(r->collector)) {
        int rc = stack_sink_new(events, count, &r->stacks, err);
        if (rc < 0)
            return rc;
        count = stack_sink_events(r->stacks, &events);
    }
    int rc = writer_new(*out, events, count, &r->writer, err);
    if (rc < 0)
        return rc;
    *out = NULL;
    writer_keep_old(r->writer);
    return r->options.compress ? writer_compress(r->writer, err) : 0;
}

/* The way of the records to the writer. What is learned needs the build-ids and copies of files that the first part gives. */
static int open_sink(struct fathom_recorder *r, struct fathom_error *err)
{
    int rc;
    if (r->stacks) {
        stack_sink_to(r->stacks, mapped_sink_write, r->writer);
        rc = learning_new(r->collector, &r->collect, false, stack_sink_add, r->stacks, &r->learning, err);
    } else {
        rc = learning_new(r->collector, &r->collect, !r->options.keep_stacks, mapped_sink_write, r->writer,
                          &r->learning, err);
    }
    struct mapped_sink_input input = {.log = &r->host.log, .next = learning_add, .context = r->learning};
    input.count = collector_events(r->collector, &input.events);
    return rc == 0 ? mapped_sink_new(&input, &r->sink, err) : rc;
}

/* What is known only once all records have come. */
static int end_sink(struct fathom_recorder *r, int rc, struct fathom_error *err)
{
    if (r->learning) {
        int passed = learning_finish(r->learning, rc ? NULL : err);
        rc = rc < 0 ? rc : passed;
    }
    if (r->stacks) {
        int passed = stack_sink_finish(r->stacks, rc ? NULL : err);
        rc = rc < 0 ? rc : passed;
    }
    mapped_sink_finish(r->sink);
    int told = mapped_sink_build_ids(r->sink, r->writer, rc ? NULL : err);
    return rc < 0 ? rc : told;
}

int fathom_recorder_check(const struct fathom_recorder_options *options, struct fathom_error *err)
{
    struct pathmap *map = NULL;
    int rc = options->map ? pathmap_open(options->map, &map, err) : 0;
    pathmap_close(map);
    return rc;
}

int fathom_recorder_open(const struct fathom_recorder_options *options,
                         const struct fathom_listener *listener, struct fathom_recorder **recorder,
                         struct fathom_error *err)
{
    struct outfile *out = NULL;
    struct fathom_recorder *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(err);
    r->options = *options;
    host_init(&r->host, listener);
    recorder_collector(&r->options, &r->host.log, &r->collect);
    int rc = fathom_recorder_check(options, err);
    if (rc == 0) /* before the command is forked, which is not to hold a stream that is written */
        rc = strcmp(options->output, "-") == 0 ? outfile_stream(options->stream, &out, err)
                                               : outfile_open(options->output, &out, err);
    if (rc == 0)
        rc = collector_open(&r->collect, &r->collector, err);
    if (rc == 0)
        rc = open_writer(r, &out, err);
    if (rc == 0)
        rc = write_tracing_data(r, err);
    outfile_close(out);
    if (rc < 0)
        fathom_recorder_close(r);
    else
        *recorder = r;
    return rc;
}

int fathom_recorder_run(struct fathom_recorder *r, struct fathom_error *err)
{
    const struct fathom_recorder_options *o = &r->options;
    enum target_end end;
    int rc = open_sink(r, err);
    if (rc == 0 && o->argc)
        rc = writer_command(r->writer, o->argc, o->argv, err);
    if (rc == 0)
        rc = target_observe(&o->target, r->collector, &(struct target_user){record_sink, record_progress, r},
                            &r->stop, &end, err);
    if (r->sink)
        rc = end_sink(r, rc, err);
    learning_free(r->learning); /* its thread, which has the rights of the run */
    r->learning = NULL;
    return end_file(r, rc, err);
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

void fathom_recorder_summary(const struct fathom_recorder *r, struct fathom_recorder_summary *out)
{
    recorder_summary(r->collector, r->nothing, out);
}

void fathom_recorder_keep(const struct fathom_recorder *r)
{
    const char *output = r->options.output;
    struct reader *reader;
    struct stat st;
    if (!cached_maps_wanted(false) || strcmp(output, "-") == 0 || stat(output, &st) != 0 ||
        !S_ISREG(st.st_mode) || reader_open(output, NULL, &reader, NULL) < 0)
        return;
    cached_maps_add(reader, &r->host.log, host_is_verbose(&r->host));
    reader_close(reader);
}

void fathom_recorder_close(struct fathom_recorder *r)
{
    if (!r)
        return;
    if (r->writer)
        writer_discard(r->writer);
    learning_free(r->learning);
    mapped_sink_free(r->sink);
    stack_sink_free(r->stacks);
    collector_close(r->collector);
    free(r);
}
