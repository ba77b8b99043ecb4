/* script.c - `fathom script`: prints a line for each sample. */
#include <getopt.h>

#include "cli/report_rows.h"

static int script_run(int argc, char **argv, struct terminal *terminal)
{
    struct report_rows own;
    report_rows_init(&own);
    own.report.format = "script";
    own.report.profile.ambiguous = FATHOM_AMBIGUOUS_BEST;
    int code = options_parse(&script_command, &own, true, argc, argv, terminal);
    if (code < 0 && argc - optind > 1)
        code = option_usage(terminal, "give one recording");
    if (code < 0 && optind < argc)
        own.report.recording = argv[optind];
    if (code < 0)
        code = report_rows_run(&own, terminal);
    report_rows_clear(&own);
    return code;
}

static const struct option_row rows[] = {
    REPORT_INPUT,
    REPORT_OUTPUT("write the lines to a file (default: standard output)"),
    OPTION_TEXT("fields", 'F', "NAME,...", struct report_rows, report.fields,
                "which fields, in this order (default: " FATHOM_SCRIPT_FIELDS ")"),
    REPORT_MAP,
    REPORT_NO_CACHE,
    REPORT_EVENT("which event, if the recording has several"),
    REPORT_FILTER,
    REPORT_FRAMING,
    REPORT_DATA,
    REPORT_WAKERS,
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
    .synopsis = "[OPTIONS] [RECORDING]",
    .about = "Prints a line for each sample, in the order of time: fields that are parted by tabs, the most "
             "probable call path among them.",
    .options = rows,
    .paged = true,
    .notes = "Fields: comm, pid, tid, time, event, weight, latency, kind, sure, symbol, image, address, "
             "path; see fathom-script(1).",
    .run = script_run,
};
