/* live.c - records into memory and reports it; see fathom/live.h. */
#include <stdlib.h>
#include <string.h>

#include "api/fathom/live.h"
#include "api/host.h"
#include "api/cached_maps.h"
#include "api/record/allocations.h"
#include "api/record/java_maps.h"
#include "api/record/learning.h"
#include "api/record/mapped_sink.h"
#include "api/record/own.h"
#include "api/record/recorder.h"
#include "api/record/target.h"
#include "api/report/reporting.h"
#include "base/text.h"

struct fathom_live {
    struct fathom_recorder_options options;
    struct host host;
    struct collector_options collect; /* borrowed by the collector */
    struct collector *collector;
    struct mapped_sink *sink;
    struct allocations *allocations; /* NULL: they are not sampled */
    struct java_maps *java;          /* NULL: no HotSpot is asked */
    struct learning *learning;
    struct report_options report;
    char *command; /* the command line, NULL: none */
    struct reader *reader;
    struct reporting *reporting;
    bool nothing;   /* nothing was sampled */
    bool failed;    /* the run failed */
    bool unlearned; /* learning from a record failed; later ones were not learned from */
    atomic_bool stop;
    struct own *own; /* NULL: the caller runs it */
};

static int learn_record(void *live, const struct record *record, struct fathom_error *err)
{
    struct fathom_live *l = live;
    int rc = reporting_learn(l->reporting, record, err);
    l->unlearned |= rc < 0;
    return rc;
}

static int show_progress(void *live, struct fathom_error *err)
{
    const struct fathom_live *l = live;
    struct collector_summary summary;
    collector_summary(l->collector, &summary);
    host_status(&l->host, "%llu samples", (unsigned long long)summary.samples);
    return learning_flush(l->learning, err);
}

/* The command line as one string, quoted as in a file. NULL: out of memory. */
static char *join_arguments(int argc, char *const *argv)
{
    size_t size = 1, used = 0;
    for (int i = 0; i < argc; i++)
        size += TEXT_QUOTED(strlen(argv[i])) + 1;
    char *text = malloc(size);
    for (int i = 0; text && i < argc; i++) {
        if (i)
            text[used++] = ' ';
        used += text_quote(argv[i], text + used);
    }
    if (text)
        text[used] = 0;
    return text;
}

static int open_live(struct fathom_live *l, const struct fathom_report_options *report,
                     struct fathom_error *err)
{
    int rc = report_options_set(&l->report, report, err);
    if (rc == 0)
        rc = recorder_check_options(&l->options, err);
    if (rc < 0)
        return rc;
    recorder_collector(&l->options, &l->host.log, &l->collect);
    rc = allocations_new(&l->options, &l->allocations, err);
    if (rc < 0)
        return rc;
    allocations_use(l->allocations, &l->collect);
    if (l->options.argc && !(l->command = join_arguments(l->options.argc, l->options.argv)))
        return error_memory(err);
    rc = collector_open(&l->collect, &l->collector, err);
    if (rc == 0 && !(l->report.engine.file = columns_file_open()))
        rc = error_memory(err);
    if (rc == 0 && l->options.kernel && !(l->report.kernel = running_kernel_open(&kernel_places_here)))
        rc = error_memory(err);
    return rc;
}

int fathom_live_open(const struct fathom_recorder_options *record, const struct fathom_report_options *report,
                     const struct fathom_listener *listener, struct fathom_live **out,
                     struct fathom_error *error)
{
    struct fathom_live *l = calloc(1, sizeof *l);
    if (!l)
        return error_memory(error);
    l->options = *record;
    host_init(&l->host, listener);
    int rc =
        record->java_map ? java_maps_new(&l->java, error) : 0; /* before there are open files to inherit */
    if (rc == 0)
        rc = open_live(l, report, error);
    l->report.given.profile.event = l->report.given.output = NULL;
    if (rc < 0)
        fathom_live_close(l);
    else
        *out = l;
    return rc;
}

/* Sets up the sinks that pass records to the reader and to the report's model. */
static int open_sink(struct fathom_live *l, struct fathom_error *err)
{
    const struct event *events;
    size_t count = collector_events(l->collector, &events);
    int rc = reporting_new(&l->report, &l->host.log, &l->host.progress, &l->reporting, err);
    if (rc == 0)
        rc = reporting_begin_live(l->reporting, events, count, err);
    if (rc == 0)
        rc = reader_open_live(&(struct reader_live){events, count, l->command, &l->host.log, learn_record, l},
                              &l->reader, err);
    /* A file that cannot be copied matters only for later reports; this report says itself what it could not read. */
    if (rc == 0)
        rc = learning_new(l->collector, &l->collect, !l->options.keep_stacks,
                          cached_maps_wanted(l->report.given.profile.no_cache), reader_append, l->reader,
                          &l->learning, err);
    if (rc == 0)
        rc = mapped_sink_new(&(struct mapped_sink_input){.events = events,
                                                         .count = count,
                                                         .names = &l->host.log,
                                                         .java = l->java,
                                                         .next = learning_add,
                                                         .context = l->learning},
                             &l->sink, err);
    return rc;
}

/* Reads names of code. It needs the rights of the run, as files may belong to another user. */
static int name_code(struct fathom_live *l, struct fathom_error *err)
{
    const void *names;
    size_t size;
    int rc = mapped_sink_told(l->sink, &names, &size, err);
    return rc == 0 && names ? reader_name_code(l->reader, names, size, err) : rc;
}

int fathom_live_run(struct fathom_live *l, struct fathom_error *error)
{
    int rc = open_sink(l, error);
    if (rc == 0)
        rc = target_observe(
            &l->options.target, l->collector,
            &(struct target_user){
                .sink = mapped_sink_add, .sink_context = l->sink, .progress = show_progress, .context = l},
            &l->stop, NULL, error);
    if (l->learning) {
        int passed = learning_finish(l->learning, rc ? NULL : error);
        rc = rc < 0 ? rc : passed;
    }
    if (rc == 0 && l->learning)
        learning_keep(l->learning, l->report.view.verbose ? &l->host.log : NULL);
    learning_free(l->learning); /* ends its thread, which has the rights of the run */
    l->learning = NULL;
    if (rc == 0)
        rc = name_code(l, error);
    l->failed = rc < 0;
    return rc;
}

void fathom_live_stop(struct fathom_live *l)
{
    atomic_store(&l->stop, true);
}

void fathom_live_summary(const struct fathom_live *l, struct fathom_recorder_summary *out)
{
    recorder_summary(l->collector, l->nothing, out);
}

/* Not usable if learning failed: the model does not match the records then. */
bool fathom_live_usable(const struct fathom_live *l)
{
    struct collector_summary s;
    collector_summary(l->collector, &s);
    return !l->failed || (s.samples && !l->unlearned);
}

int fathom_live_infer(struct fathom_live *l, struct fathom_error *error)
{
    mapped_sink_finish(l->sink);
    l->nothing = recorder_say_losses(l->collector, &l->host.log);
    int rc = reader_finish(l->reader, error);
    return rc == 0 ? reporting_run(l->reporting, l->reader, error) : rc;
}

int fathom_live_write(struct fathom_live *l, FILE *stream, struct fathom_error *error)
{
    int rc = reporting_write(l->reporting, stream, error);
    if (rc == 0 && !l->failed && cached_maps_wanted(l->report.given.profile.no_cache))
        cached_maps_add(l->reader, reporting_images(l->reporting), &l->host.log, l->report.view.verbose);
    return rc;
}

unsigned fathom_live_lacks(const struct fathom_live *l)
{
    return reporting_stale(l->reporting) ? FATHOM_REPORT_STALE : 0u;
}

struct own **live_own(struct fathom_live *l)
{
    return &l->own;
}

void fathom_live_close(struct fathom_live *l)
{
    if (!l)
        return;
    fathom_live_stop(l);
    own_free(l->own);
    learning_free(l->learning);
    mapped_sink_free(l->sink);
    allocations_free(l->allocations);
    java_maps_free(l->java);
    reader_close(l->reader);
    reporting_free(l->reporting);
    collector_close(l->collector);
    columns_file_close(l->report.engine.file);
    running_kernel_close(l->report.kernel);
    free(l->command);
    free(l);
}
