/* annotate.c - `fathom annotate`: a function's lines and instructions with the samples beside them. */
#include <getopt.h>

#include "cli/exit.h"
#include "cli/filtering.h"
#include "cli/inferred.h"
#include "cli/kept_maps.h"
#include "cli/report_file.h"
#include "cli/symfs.h"
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
    if (code >= 0)
        return code;
    if (argc - optind != 1)
        return option_usage(terminal, &annotate_command,
                            "give one function, by its name or a regular expression");
    options.annotate.function = argv[optind];
    options.report.view.annotate = &options.annotate;
    code = reporting_file(&options.report, terminal);
    filtering_clear(&options.report);
    return code;
}

static const struct option_word colours[] = {
    {"auto", COLOUR_AUTO}, {"always", COLOUR_ALWAYS}, {"never", COLOUR_NEVER}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("input", 'i', "FILE", struct report_options, input,
                "a perf.data file; '-' reads standard input (default: perf.data)"),
    OPTION_TEXT("path", 0, "PATH", struct annotate_command_options, annotate.path,
                "only samples whose path ends like this: 'main;run;FUNCTION', as folded stacks have it"),
    OPTION_TEXT("output", 'o', "FILE", struct report_options, output,
                "write to a file (default: standard output)"),
    OPTION_TEXT("map", 'm', "MAP", struct report_options, map, "a path map from 'fathom train'"),
    KEPT_MAPS_NO_CACHE(struct report_options,
                       "do not use what other recordings of the same programs learned"),
    OPTION_TABLE("metric", 0, "NAME", metric_table, struct metric, struct report_options, metric,
                 "what samples are weighed by: "),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct report_options, view.min_percent,
                    "leave out what weighs less of the function (default: 0.5; 0: all of it)"),
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct report_options, rows,
                  "only the N hottest instructions and lines"),
    OPTION_TEXT("event", 0, "NAME", struct report_options, event,
                "which event, if the recording has several"),
    FILTERING_ROWS,
    FRAMING_ROWS,
    SYMFS_OPTION(struct report_options),
    OPTION_CHOICE("color", 0, "WHEN", colours, enum colour_when, struct report_options, colour,
                  "auto, always or never"),
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
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
    .run = annotate_run,
};
