/* phases.c - `fathom phases`: prints the phases of a recording over time, or counts a command's calls by phase. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/phase_rows.h"

struct phases_command_options {
    struct report_rows rows; /* first */
    bool json;
};

const struct option_word phase_kinds[] = {{"contexts", FATHOM_PHASE_CONTEXTS},
                                          {"functions", FATHOM_PHASE_FUNCTIONS},
                                          {"regions", FATHOM_PHASE_REGIONS},
                                          {0}};
static const struct option_word phase_policies[] = {{"centroid", FATHOM_PHASE_CENTROID},
                                                    {"first", FATHOM_PHASE_FIRST},
                                                    {"third", FATHOM_PHASE_THIRD},
                                                    {"random", FATHOM_PHASE_RANDOM},
                                                    {0}};

#define CALLS_INTERVAL "100" /* ms, about a hundred samples for detecting phases */

/* `phases [OPTIONS] -- COMMAND`: counts its calls by phase, with the options of `calls`. */
static int count_calls(int argc, char **argv, struct terminal *terminal)
{
    char **words = calloc((size_t)argc + 3, sizeof *words);
    if (!words) {
        struct fathom_error err;
        return exit_result(terminal, error_memory(&err), &err);
    }
    words[0] = argv[0];
    words[1] = (char *)(uintptr_t) "--phases";
    words[2] = (char *)(uintptr_t)CALLS_INTERVAL;
    memcpy(words + 3, argv + 1, ((size_t)argc - 1) * sizeof *words);
    int code = calls_command.run(argc + 2, words, terminal);
    free(words);
    return code;
}

static int phases_run(int argc, char **argv, struct terminal *terminal)
{
    if (option_words_after(argc, argv) > 0)
        return count_calls(argc, argv, terminal);
    struct phases_command_options options = {0};
    struct fathom_report_options *report = &options.rows.report;
    report_rows_init(&options.rows);
    int code = options_parse(&phases_command, &options, true, argc, argv, terminal);
    if (code < 0 && argc - optind > 1)
        code = option_usage(terminal, "give one recording");
    if (code < 0 && optind < argc)
        report->recording = argv[optind];
    report->format = options.json ? "phases-json" : "phases";
    if (code < 0)
        code = report_rows_run(&options.rows, terminal);
    report_rows_clear(&options.rows);
    return code;
}

static const struct option_row rows[] = {
    REPORT_INPUT,
    REPORT_OUTPUT("write the phases to a file (default: standard output)"),
    PHASE_ROWS,
    OPTION_CHOICE("represent", 0, "HOW", phase_policies, enum fathom_phase_policy, struct report_rows,
                  report.profile.phases.policy,
                  "which interval represents a phase: centroid (the nearest to the mean of them all; the "
                  "default), first, third or random"),
    REPORT_MOST("so many contexts of each phase (default: 3; of JSON: all)"),
    REPORT_MIN("omit contexts that weigh less in their phase (default: 0.5)"),
    OPTION_FLAG("json", 0, struct phases_command_options, json, "print JSON, for programs"),
    REPORT_METRIC("what samples are weighed by: "),
    REPORT_EVENT("which event, if the recording has several"),
    REPORT_MAP,
    REPORT_NO_CACHE,
    REPORT_FILTER,
    REPORT_FRAMING,
    REPORT_SYMFS,
    REPORT_WIDE,
    REPORT_COLOUR,
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details, such as a longer heading"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command phases_command = {
    .name = "phases",
    .summary = "print the phases of a recording over time",
    .synopsis = "[OPTIONS] [RECORDING]\n"
                "[OPTIONS of fathom calls] -- COMMAND [ARG...]",
    .about = "Cuts the recording into intervals of equal work, and tells those apart that did different "
             "things: these are its phases. Prints when each was, which interval represents it, which "
             "phases followed it, and its hot calling contexts.",
    .options = rows,
    .paged = true,
    .notes = "With a command, its calls are counted in some intervals of each phase, with the options of "
             "fathom-calls(1). "
             "fathom-report(1) prints one phase of a recording, and fathom-diff(1) what differs between two.",
    .run = phases_run,
};
