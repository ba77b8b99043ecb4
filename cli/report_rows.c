#include "cli/report_rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/output.h"
#include "cli/privilege.h"

void report_rows_init(struct report_rows *rows)
{
    *rows = (struct report_rows){0};
    fathom_report_defaults(&rows->report);
}

void report_rows_complete(struct report_rows *rows, const struct terminal *terminal)
{
    struct fathom_report_options *o = &rows->report;
    struct fathom_filter *filter = &o->profile.filter;
    filter->pids = rows->pids.pids;
    filter->pid_count = rows->pids.count;
    filter->tids = rows->tids.pids;
    filter->tid_count = rows->tids.count;
    o->profile.phase = rows->phases.pids;
    o->profile.phase_count = rows->phases.count;
    o->profile.metric = rows->metric ? rows->metric->name : NULL;
    o->colour = (!o->output || rows->colour == COLOUR_ALWAYS) && terminal_colour(rows->colour, stdout);
    o->width = rows->wide || o->output ? 0 : terminal_width(stdout);
    o->verbose = terminal->verbose;
    o->terminal = isatty(STDOUT_FILENO);
}

static int print_report(const struct fathom_report_options *options, struct fathom_report *report,
                        struct terminal *terminal, struct fathom_error *err)
{
    const struct fathom_writing *w = fathom_report_writing(report);
    if (options->output && options->format && strcmp(options->format, "perf") == 0)
        output_alone(options->output);
    privilege_only_read_and(w, terminal);
    int rc = fathom_report_run(report, err);
    terminal_progress_end(terminal);
    return rc == 0 ? fathom_report_write(report, stdout, err) : rc;
}

int report_rows_run(struct report_rows *rows, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct fathom_report *report = NULL;
    report_rows_complete(rows, terminal);
    int rc = fathom_report_check(&rows->report, &err);
    if (rc < 0)
        return option_usage(terminal, "%s", err.text);
    rc = fathom_report_open(&rows->report, &terminal->listener, &report, &err);
    if (rc == 0)
        rc = print_report(&rows->report, report, terminal, &err);
    int code = exit_result(terminal, rc, &err);
    unsigned lacks = rc == 0 ? fathom_report_lacks(report) : 0;
    fathom_report_close(report);
    return lacks & FATHOM_REPORT_EMPTY ? EXIT_NOTHING : lacks & FATHOM_REPORT_STALE ? EXIT_BUILD : code;
}

void report_rows_clear(struct report_rows *rows)
{
    free(rows->pids.pids);
    free(rows->tids.pids);
    free(rows->phases.pids);
}
