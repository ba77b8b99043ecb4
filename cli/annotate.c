/* annotate.c - `fathom annotate`: prints a function's lines and instructions with their samples. */
#include <getopt.h>

#include "cli/report_rows.h"

static int annotate_run(int argc, char **argv, struct terminal *terminal)
{
    struct report_rows own;
    report_rows_init(&own);
    own.report.format = "annotate";
    own.report.profile.ambiguous = FATHOM_AMBIGUOUS_BEST;
    int code = options_parse(&annotate_command, &own, true, argc, argv, terminal);
    if (code < 0 && argc - optind != 1)
        code = option_usage(terminal, "give one function, by its name or a regular expression");
    own.report.function = argv[optind];
    if (code < 0)
        code = report_rows_run(&own, terminal);
    report_rows_clear(&own);
    return code;
}

static const struct option_row rows[] = {
    REPORT_INPUT,
    OPTION_TEXT("path", 0, "PATH", struct report_rows, report.path,
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
    .about = "Prints the hottest source lines of a function (needs debug info), then its instructions with "
             "the lines that they are made of; beside each its share of the function's samples, in all "
             "contexts or in one.",
    .options = rows,
    .paged = true,
    .run = annotate_run,
};
