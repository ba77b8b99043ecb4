/* report_rows.c - see report_rows.h. */
#include "cli/report_rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/output.h"
#include "cli/privilege.h"

bool report_take_inline(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct report_rows *rows = value;
    (void)terminal, (void)row, (void)text;
    rows->report.profile.inline_most = UINT64_MAX;
    return true;
}

bool report_take_no_inline(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct report_rows *rows = value;
    (void)terminal, (void)row, (void)text;
    rows->report.profile.inline_most = 0;
    return true;
}

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

static int print(const struct fathom_report_options *options, struct fathom_report *report,
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

int report_rows_run(struct report_rows *rows, const struct command *command, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct fathom_report *report = NULL;
    report_rows_complete(rows, terminal);
    int rc = fathom_report_check(&rows->report, &err);
    if (rc < 0)
        return option_usage(terminal, command, "%s", err.text);
    rc = fathom_report_open(&rows->report, &terminal->listener, &report, &err);
    if (rc == 0)
        rc = print(&rows->report, report, terminal, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    unsigned lacks = rc == 0 ? fathom_report_lacks(report) : 0;
    fathom_report_close(report);
    return rc < 0                        ? exit_code_of(&err)
           : lacks & FATHOM_REPORT_EMPTY ? EXIT_NOTHING
           : lacks & FATHOM_REPORT_STALE ? EXIT_BUILD
                                         : EXIT_OK;
}

void report_rows_clear(struct report_rows *rows)
{
    free(rows->pids.pids);
    free(rows->tids.pids);
    free(rows->phases.pids);
}
