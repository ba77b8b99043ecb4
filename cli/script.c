/* script.c - `fathom script`: a line for each sample. */
#include <getopt.h>

#include "cli/exit.h"
#include "cli/report_file.h"
#include "cli/report_rows.h"
#include "report/export/script.h"

#define FIELDS "comm,tid,time,weight,sure,path"

static const struct format script_format = {.name = "script", .write = script_write, .samples = true};

struct script_options {
    struct report_options report; /* first: its rows are also those of fathom report */
    const char *fields;
};

static int script_run(int argc, char **argv, struct terminal *terminal)
{
    struct script_options options = {.report = REPORT_DEFAULTS, .fields = FIELDS};
    struct script_fields fields;
    struct fathom_error err = {0};
    options.report.profile.ambiguity = AMBIGUOUS_BEST;
    options.report.format = &script_format;
    int code = options_parse(&script_command, &options, true, argc, argv, terminal);
    if (code < 0 && optind < argc)
        code = option_usage(terminal, &script_command, "unexpected argument '%s'; give the recording with -i",
                            argv[optind]);
    if (code < 0 && script_fields_parse(options.fields, &fields, &err) < 0)
        code = option_usage(terminal, &script_command, "%s", err.text);
    options.report.view.fields = &fields;
    if (code < 0)
        code = reporting_file(&options.report, terminal);
    report_options_clear(&options.report);
    return code;
}

static const struct option_row rows[] = {
    REPORT_INPUT,
    REPORT_OUTPUT("write the lines to a file (default: standard output)"),
    OPTION_TEXT("fields", 'F', "NAME,...", struct script_options, fields,
                "which fields, in this order (default: " FIELDS ")"),
    REPORT_MAP,
    REPORT_NO_CACHE,
    REPORT_EVENT("which event, if the recording has several"),
    REPORT_FILTER,
    REPORT_FRAMING,
    REPORT_DATA,
    REPORT_SYMFS,
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command script_command = {
    .name = "script",
    .summary = "print each sample of a recording with its call path",
    .synopsis = "[OPTIONS]",
    .about = "Prints a line for each sample, in the order of time: fields that are parted by tabs, the most "
             "probable "
             "call path among them.",
    .options = rows,
    .paged = true,
    .notes = "Fields: comm, pid, tid, time, event, weight, latency, kind, sure, symbol, image, path; see "
             "fathom-script(1).",
    .run = script_run,
};
