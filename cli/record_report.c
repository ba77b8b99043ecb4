/* record_report.c - `fathom record --report`; see record.h. */
#include "api/report/reporting.h"
#include "cli/exit.h"
#include "cli/kept_maps.h"
#include "api/record/learning.h"
#include "api/record/mapped_sink.h"
#include "api/record/recorder.h"
#include "cli/pager.h"
#include "cli/privilege.h"
#include "cli/record.h"

struct live {
    struct collector_options collect; /* borrowed by the collector */
    struct terminal *terminal;
    struct collector *collector;
    struct mapped_sink *sink;
    struct learning *learning;
    struct reader *reader;
    struct reporting *reporting;
    bool nothing;   /* was sampled */
    bool unlearned; /* learning from a record failed; later ones were not learned from */
};

static int learn(void *live, const struct record *record, struct fathom_error *err)
{
    struct live *l = live;
    int rc = reporting_learn(l->reporting, record, err);
    l->unlearned |= rc < 0;
    return rc;
}

/* A collector_sink (context: the reader). */
static int keep(void *reader, const void *records, size_t size, struct fathom_error *err)
{
    return reader_append(reader, records, size, err);
}

static int take(void *live, const void *records, size_t size, struct fathom_error *err)
{
    struct live *l = live;
    return mapped_sink_add(l->sink, records, size, err);
}

static int show_progress(void *live, struct fathom_error *err)
{
    struct live *l = live;
    struct collector_summary summary;
    (void)err;
    collector_summary(l->collector, &summary);
    terminal_progress(l->terminal, "%llu samples", (unsigned long long)summary.samples);
    return 0;
}

static int begin(struct live *l, const struct record_options *options, struct report_options *report_options,
                 const char *command, struct fathom_error *err)
{
    const struct event *events;
    int rc = recorder_check_map(&options->recorder, err);
    if (rc < 0)
        return rc;
    recorder_collector(&options->recorder, &l->terminal->log, &l->collect);
    pager_start(l->terminal);
    rc = collector_open(&l->collect, &l->collector, err);
    if (rc < 0)
        return rc;
    if (options->recorder.kernel && !(report_options->kernel = running_kernel_open(&kernel_places_here)))
        return error_memory(err);
    privilege_only_observe(NULL, l->collect.command, l->terminal);
    size_t count = collector_events(l->collector, &events);
    rc = reporting_new(report_options, &l->terminal->log, &l->terminal->progress, &l->reporting, err);
    if (rc == 0)
        rc = reporting_begin_live(l->reporting, events, count, err);
    if (rc == 0)
        rc = reader_open_live(&(struct reader_live){events, count, command, &l->terminal->log, learn, l},
                              &l->reader, err);
    /* A file that cannot be copied matters only to later reports; this one says what it could not read. */
    if (rc == 0)
        rc = learning_new(l->collector, &l->collect, keep, l->reader, &l->learning, err);
    if (rc == 0)
        rc = mapped_sink_new(&(struct mapped_sink_input){events, count, NULL, learning_add, l->learning},
                             &l->sink, err);
    return rc;
}

/* What was recorded before a failure is still reported, unless learning failed: what was learned then does
 * not match the records. */
static int finish(struct live *l, struct fathom_error *err)
{
    learning_free(l->learning);
    l->learning = NULL;
    privilege_only_read(l->terminal);
    mapped_sink_finish(l->sink);
    l->nothing = recorder_say_losses(l->collector, &l->terminal->log);
    int rc = reader_finish(l->reader, err);
    if (rc == 0)
        rc = reporting_run(l->reporting, l->reader, err);
    terminal_progress_end(l->terminal);
    return rc == 0 ? reporting_write(l->reporting, stdout, err) : rc;
}

/* The exit code of the failure in recording, else in reporting; the command's own if both succeeded. */
static int code_of(const struct live *l, int recorded, int reported, struct fathom_error errs[2])
{
    if (recorded < 0)
        terminal_error(l->terminal, &errs[0]);
    if (reported < 0)
        terminal_error(l->terminal, &errs[1]);
    if (recorded < 0 || reported < 0)
        return exit_code_of(&errs[recorded < 0 ? 0 : 1]);
    if (l->nothing && !l->collect.command)
        return EXIT_NOTHING;
    int status = collector_status(l->collector), code = status >= 0 ? exit_code_of_status(status) : EXIT_OK;
    return code == EXIT_OK && reporting_stale(l->reporting) ? EXIT_BUILD : code;
}

int record_and_report(const struct record_options *options, const char *command, struct terminal *terminal)
{
    struct fathom_report_options asked;
    struct report_options report_options;
    fathom_report_defaults(&asked);
    asked.profile.no_cache = options->no_cache;
    asked.profile.map = options->recorder.map;
    asked.colour = terminal_colour(COLOUR_AUTO, stdout);
    asked.width = terminal_width(stdout);
    asked.verbose = terminal->verbose;
    struct live l = {.terminal = terminal};
    struct fathom_error errs[2] = {0};
    enum target_end end;
    int recorded = report_options_set(&report_options, &asked, &errs[0]), reported = 0;
    if (recorded == 0)
        recorded = begin(&l, options, &report_options, command, &errs[0]);
    if (recorded == 0) {
        recorded = target_run(&options->recorder.target, l.collector,
                              &(struct target_user){take, show_progress, &l}, &end, &errs[0]);
        terminal_progress_end(terminal);
        struct collector_summary summary;
        collector_summary(l.collector, &summary);
        if (recorded == 0 || (summary.samples && !l.unlearned))
            reported = finish(&l, &errs[1]);
    }
    if (recorded == 0 && reported == 0 && kept_maps_wanted(options->no_cache))
        kept_maps_add(l.reader, &terminal->log, terminal->verbose);
    int code = code_of(&l, recorded, reported, errs);
    learning_free(l.learning);
    mapped_sink_free(l.sink);
    reader_close(l.reader);
    reporting_free(l.reporting);
    collector_close(l.collector);
    running_kernel_close(report_options.kernel);
    return code;
}
