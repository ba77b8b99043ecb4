/* annotate.c - `fathom annotate`: a function's lines and instructions with the samples beside them. */
#include <getopt.h>

#include "cli/exit.h"
#include "cli/report_file.h"
#include "cli/report_rows.h"
#include "report/annotate/annotate.h"

static const struct format annotate_format = {.name = "annotate", .write = annotate_write, .samples = true};

struct annotate_command_options {
    struct report_options report; /* first: its rows are also those of fathom report */
    struct annotate_options annotate;
};

static int annotate_run(int argc, char **argv, struct terminal *terminal)
{
    struct annotate_command_options options = {.report = REPORT_DEFAULTS};
    options.report.profile.ambiguity = AMBIGUOUS_BEST;
    options.report.format = &annotate_format;
    int code = options_parse(&annotate_command, &options, true, argc, argv, terminal);
    if (code < 0 && argc - optind != 1)
        code = option_usage(terminal, &annotate_command,
                            "give one function, by its name or a regular expression");
    options.annotate.function = argv[optind];
    options.report.view.annotate = &options.annotate;
    if (code < 0)
        code = reporting_file(&options.report, terminal);
    report_options_clear(&options.report);
    return code;
}

static const struct option_row rows[] = {
    REPORT_INPUT,
    OPTION_TEXT("path", 0, "PATH", struct annotate_command_options, annotate.path,
                "only samples whose path ends like this: 'main;run;FUNCTION', as folded stacks have it"),
    REPORT_OUTPUT("write to a file (default: standard output)"),
    REPORT_MAP,
    REPORT_NO_CACHE,
    REPORT_METRIC("what samples are weighed by: "),
    REPORT_MIN("leave out what weighs less of the function (default: 0.5; 0: all of it)"),
    REPORT_MOST("only the N hottest instructions and lines"),
    REPORT_EVENT("which event, if the recording has several"),
    REPORT_FILTER,
    REPORT_FRAMING,
    REPORT_SYMFS,
    REPORT_COLOUR,
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command annotate_command = {
    .name = "annotate",
    .summary = "print a function's lines and instructions with their samples",
    .synopsis = "[OPTIONS] FUNCTION",
    .about =
        "Prints the hottest source lines of a function (needs debug info), then its instructions with the "
        "lines "
        "that they are made of; beside each its share of the function's samples, in all contexts or in one.",
    .options = rows,
    .paged = true,
    .run = annotate_run,
};
