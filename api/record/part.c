#include "api/record/part.h"

#include <stdlib.h>
#include <string.h>

#include "api/cached_maps.h"
#include "api/host.h"
#include "api/record/learning.h"
#include "api/record/allocations.h"
#include "api/record/mapped_sink.h"
#include "api/record/phase_switch.h"
#include "api/record/recorder.h"
#include "api/record/stack_sink.h"
#include "base/clock.h"
#include "perfdata/writer.h"

struct part {
    struct part_input in;
    struct log warnings;              /* suppresses what the previous part reported already */
    pid_t launched;                   /* by the previous part */
    struct collector_options collect; /* borrowed by the collector */
    struct collector *collector;
    struct writer *writer;
    char *name; /* of the part's file, in messages */
    struct mapped_sink *sink;
    struct stack_sink *stacks; /* NULL: stack records are written unchanged */
    struct learning *learning;
    struct phase_switch *phases; /* NULL: all events are always on */
};

struct collector *part_collector(const struct part *p)
{
    return p->collector;
}

int part_add(struct part *p, const void *records, size_t size, struct fathom_error *err)
{
    int rc = p->phases ? phase_switch_see(p->phases, records, size, err) : 0;
    return rc == 0 ? mapped_sink_add(p->sink, records, size, err) : rc;
}

int part_flush(struct part *p, struct fathom_error *err)
{
    int rc = learning_flush(p->learning, err);
    writer_wall_clock(p->writer);
    return rc == 0 ? writer_flush(p->writer, err) : rc;
}

uint64_t part_size(const struct part *p)
{
    return writer_size(p->writer);
}

/* Stock perf reads a recording of tracepoints only with their formats. */
static int write_tracing_data(struct part *p, struct fathom_error *err)
{
    uint8_t *data = NULL;
    size_t size;
    int rc = collector_tracing_data(p->collector, &data, &size, err);
    if (rc == 0 && size)
        rc = writer_tracing_data(p->writer, data, size, err);
    free(data);
    return rc;
}

/* Opens the writer, with the events of the file. It takes ownership of *file. */
static int open_writer(struct part *p, struct outfile **file, struct fathom_error *err)
{
    const struct event *events;
    size_t count = collector_events(p->collector, &events);
    if (p->in.options->stack_samples && collector_verify(p->collector)) {
        int rc = stack_sink_new(events, count, &p->stacks, err);
        if (rc < 0)
            return rc;
        count = stack_sink_events(p->stacks, &events);
    }
    p->name = strdup(outfile_path(*file));
    int rc = p->name ? writer_new(*file, events, count, &p->writer, err) : error_memory(err);
    if (rc < 0)
        return rc;
    *file = NULL;
    writer_keep_old(p->writer);
    return p->in.options->compress ? writer_compress(p->writer, err) : 0;
}

static void pass_warning(void *part, enum log_level level, const char *text)
{
    const struct part *p = part;
    if (level >= LOG_WARNING)
        log_write(&p->in.host->log, level, "%s", text);
}

/* Makes the collector continue with the target of the previous part. */
static void follow_on(struct part *p, const struct part *before)
{
    p->launched = collector_command(before->collector);
    if (p->collect.command && !fathom_target_wide(&p->in.options->target)) {
        p->collect.pids = &p->launched;
        p->collect.pid_count = 1;
    }
    p->collect.command = NULL;
    p->collect.raised = false;
    p->warnings = (struct log){pass_warning, p};
    p->collect.log = &p->warnings;
}

int part_open(const struct part_input *input, struct outfile **file, struct part **out,
              struct fathom_error *err)
{
    struct part *p = calloc(1, sizeof *p);
    if (!p)
        return error_memory(err);
    p->in = *input;
    recorder_collector(p->in.options, &p->in.host->log, &p->collect);
    allocations_use(input->allocations, &p->collect);
    if (input->before)
        follow_on(p, input->before);
    int rc = collector_open(&p->collect, &p->collector, err);
    if (rc == 0)
        rc = open_writer(p, file, err);
    if (rc == 0)
        rc = write_tracing_data(p, err);
    if (rc == 0 && input->before)
        rc = collector_hand_over(input->before->collector, p->collector, err);
    if (rc < 0)
        part_close(p);
    else
        *out = p;
    return rc;
}

void part_close(struct part *p)
{
    if (!p)
        return;
    if (p->writer)
        writer_discard(p->writer);
    learning_free(p->learning);
    phase_switch_free(p->phases);
    mapped_sink_free(p->sink);
    stack_sink_free(p->stacks);
    collector_close(p->collector);
    free(p->name);
    free(p);
}

/* Sets up the sinks that pass records to the writer. Learning needs the build-ids and file copies that the first sink adds. */
static int open_sink(struct part *p, struct fathom_error *err)
{
    int rc;
    if (p->stacks) {
        stack_sink_to(p->stacks, writer_append, p->writer);
        rc = learning_new(p->collector, &p->collect, false, false, stack_sink_add, p->stacks, &p->learning,
                          err);
    } else {
        rc = learning_new(p->collector, &p->collect, !p->in.options->keep_stacks,
                          cached_maps_wanted(p->in.options->no_cache), writer_append, p->writer, &p->learning,
                          err);
    }
    struct mapped_sink_input input = {.log = &p->in.host->log,
                                      .names = &p->in.host->log,
                                      .java = p->in.java,
                                      .next = learning_add,
                                      .context = p->learning};
    input.count = collector_events(p->collector, &input.events);
    return rc == 0 ? mapped_sink_new(&input, &p->sink, err) : rc;
}

_Static_assert((int)FATHOM_INTERVAL_THIRD == (int)PHASE_SAMPLING_THIRD &&
                   (int)FATHOM_INTERVAL_SECOND == (int)PHASE_SAMPLING_SECOND &&
                   (int)FATHOM_INTERVAL_RANDOM == (int)PHASE_SAMPLING_RANDOM &&
                   (int)FATHOM_INTERVAL_PERIODIC == (int)PHASE_SAMPLING_PERIODIC &&
                   (int)FATHOM_INTERVAL_CHANCE == (int)PHASE_SAMPLING_CHANCE,
               "the same numbers");

static int begin_phases(struct part *p, struct fathom_error *err)
{
    const struct fathom_recorder_options *o = p->in.options;
    const struct event *events;
    if (o->phase_interval <= 0)
        return 0;
    collector_events(p->collector, &events);
    const uint64_t share = o->phase_share ? o->phase_share : FATHOM_PHASE_SHARE;
    const struct phase_switch_options options = {
        .interval = o->phase_interval * (attr_is_clock(&events[0].attr) ? 1e6 : 1),
        .sampling = {.policy = (enum phase_sampling_policy)o->phase_policy,
                     .share = share > UINT32_MAX ? UINT32_MAX : (uint32_t)share,
                     .seed = clock_ns()},
        .control = p->in.control};
    return phase_switch_new(p->collector, &options, &p->in.host->log, &p->phases, err);
}

int part_begin(struct part *p, struct fathom_error *err)
{
    int rc = open_sink(p, err);
    if (rc == 0)
        rc = begin_phases(p, err);
    if (rc == 0 && p->in.options->argc)
        rc = writer_command(p->writer, p->in.options->argc, p->in.options->argv, err);
    return rc;
}

/* Writes what is known only after all records have come. */
static int end_sink(struct part *p, int rc, struct fathom_error *err)
{
    if (p->stacks) {
        int passed = stack_sink_finish(p->stacks, rc ? NULL : err);
        rc = rc < 0 ? rc : passed;
    }
    mapped_sink_finish(p->sink);
    int told = mapped_sink_build_ids(p->sink, p->writer, rc ? NULL : err);
    if (told == 0)
        told = mapped_sink_names(p->sink, p->writer, rc ? NULL : err);
    return rc < 0 ? rc : told;
}

static void say_summary(const struct part *p, double bytes, bool *nothing)
{
    struct collector_summary s;
    collector_summary(p->collector, &s);
    bool large = bytes >= 1e6;
    bool follows = collector_verify(p->collector);
    uint64_t stacks = follows ? s.stacks_new : s.audit_samples;
    log_write(&p->in.host->log, LOG_NOTE, "%llu sample%s and %llu %s%s in %s (%.1f %s)",
              (unsigned long long)s.samples, s.samples == 1 ? "" : "s", (unsigned long long)stacks,
              follows ? "new stack" : "audit sample", stacks == 1 ? "" : "s", p->name,
              bytes / (large ? 1e6 : 1e3), large ? "MB" : "KB");
    if (p->phases)
        phase_switch_tell(p->phases);
    *nothing = recorder_say_losses(p->collector, &p->in.host->log);
}

static int end_file(struct part *p, int rc, bool *nothing, struct fathom_error *err)
{
    struct collector_summary s;
    struct writer *writer = p->writer;
    collector_summary(p->collector, &s);
    struct scaling scaling = {0};
    writer_wall_clock(writer);
    if (rc == 0 && p->phases)
        rc = phase_switch_scaling(p->phases, &scaling, err);
    if (rc == 0 && p->phases)
        writer_scaling(writer, &scaling);
    if (rc == 0)
        rc = writer_flush(writer, err); /* so that the size of compressed data is known */
    double bytes = (double)writer_size(writer);
    p->writer = NULL;
    if (rc < 0 && !s.samples && !s.audit_samples) {
        writer_discard(writer);
        return rc;
    }
    int closed = writer_close(writer, rc ? NULL : err);
    if (rc == 0 && closed == 0)
        say_summary(p, bytes, nothing);
    return rc < 0 ? rc : closed;
}

void part_keep(const struct part *p)
{
    if (p->learning)
        learning_keep(p->learning, host_is_verbose(p->in.host) ? &p->in.host->log : NULL);
}

int part_end(struct part *p, int rc, bool *nothing, struct fathom_error *err)
{
    *nothing = false;
    if (p->learning) { /* its thread has the rights of the run */
        int passed = learning_finish(p->learning, rc ? NULL : err);
        rc = rc < 0 ? rc : passed;
    }
    if (p->sink)
        rc = end_sink(p, rc, err);
    return end_file(p, rc, nothing, err);
}

struct image_cache *part_images(struct part *p)
{
    return p->learning ? learning_images(p->learning) : NULL;
}
