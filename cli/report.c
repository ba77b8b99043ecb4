/* report.c - `fathom report`: prints a recording's hot calling contexts. */
#include <getopt.h>

#include "cli/phase_rows.h"
#include "cli/shared_rows.h"

struct report_command_options {
    struct report_rows rows; /* first */
    struct fathom_store_selection store;
    const struct fathom_word *view, *format; /* view: NULL if it was not given */
};

static int report_run(int argc, char **argv, struct terminal *terminal)
{
    struct report_command_options options = {.format = fathom_report_formats};
    report_rows_init(&options.rows);
    const char *unnamed = options.rows.report.recording;
    int code = options_parse(&report_command, &options, true, argc, argv, terminal);
    bool named = options.rows.report.recording != unnamed || optind < argc;
    if (code < 0 && (argc - optind > 1 || (named && options.store.url)))
        code = option_usage(terminal, "give one recording, or --store");
    if (code < 0 && optind < argc)
        options.rows.report.recording = argv[optind];
    if (code < 0)
        code = store_rows_check(&options.store, terminal);
    options.rows.report.store = options.store.url ? &options.store : NULL;
    options.rows.report.view = options.view ? options.view->name : NULL;
    options.rows.report.format = options.format->name;
    if (code < 0)
        code = report_rows_run(&options.rows, terminal);
    report_rows_clear(&options.rows);
    return code;
}

static const struct option_word ambiguities[] = {{"likely", FATHOM_AMBIGUOUS_LIKELY},
                                                 {"best", FATHOM_AMBIGUOUS_BEST},
                                                 {"split", FATHOM_AMBIGUOUS_SPLIT},
                                                 {"common", FATHOM_AMBIGUOUS_COMMON},
                                                 {0}};
static const struct option_word certainties[] = {
    {"weight", FATHOM_CERTAINTY_WEIGHT}, {"frame", FATHOM_CERTAINTY_FRAME}, {0}};
static const struct option_word counters[] = {
    {"lss", FATHOM_SPACE_SAVING},       {"bss", FATHOM_BUCKET_SPACE_SAVING}, {"lc", FATHOM_LOSSY_COUNTING},
    {"sticky", FATHOM_STICKY_SAMPLING}, {"purge", FATHOM_PURGING},           {0}};
static const struct option_row rows[] = {
    REPORT_INPUT,
    REPORT_MAP,
    REPORT_OUTPUT("write the report to a file (default: standard output)"),
    OPTION_FLAG("no-audit", 0, struct report_rows, report.profile.no_audit,
                "do not use the recording's own stacks"),
    REPORT_NO_CACHE,
    INFERENCE_NO_AUTOMATON(struct report_rows, report.profile.no_automaton),
    INFERENCE_NO_TEMPORAL(struct report_rows, report.profile.no_temporal),
    INFERENCE_NO_EM(struct report_rows, report.profile.no_em),
    OPTION_CHOICE("ambiguous", 0, "WHAT", ambiguities, enum fathom_ambiguity, struct report_rows,
                  report.profile.ambiguous,
                  "what to show where several paths are possible: likely (the frames from the root that are "
                  "at least 50% sure, then '[one of 3 paths]'; the default), best (the most probable path), "
                  "split (each path with its share) or common (the frames they have in common)"),
    OPTION_FLAG("confidence", 0, struct report_rows, report.confidence,
                "show how sure each row is; always shown if a row is less than 90% sure"),
    OPTION_FRACTION("min-confidence", 0, "P", 0, 1, struct report_rows, report.profile.min_confidence,
                    "contexts less probable than P (0 to 1) are unknown"),
    OPTION_TABLE("view", 0, "VIEW", fathom_views, struct fathom_word, struct report_command_options, view,
                 ""),
    REPORT_METRIC("what contexts are weighed by: "),
    OPTION_TABLE("format", 0, "FORMAT", fathom_report_formats, struct fathom_word,
                 struct report_command_options, format, ""),
    OPTION_CHOICE("certainty", 0, "WHAT", certainties, enum fathom_certainty_shown, struct report_rows,
                  report.certainty,
                  "of --format perf, how sure each path is: weight (in percent, as the sample's weight; the "
                  "default) or frame (a frame too, outermost, if it is not proved)"),
    REPORT_MIN("omit rows that weigh less (default: 0.5)"),
    REPORT_MOST("only the N hottest contexts"),
    OPTION_NUMBER(
        "annotate", 0, "COUNT", 0, 10000, struct report_rows, report.listed,
        "of --format html: how many of the hottest functions the page has the code of (default: 100)"),
    OPTION_FRACTION("phi", 0, "P", 1e-9, 0.999, struct report_rows, report.profile.phi,
                    "hot contexts in bounded memory: those of at least P of the weight"),
    OPTION_FRACTION("eps", 0, "E", 1e-9, 0.999, struct report_rows, report.profile.eps,
                    "with --phi: counters are within E of the weight (default: P/5)"),
    OPTION_CHOICE("counter", 0, "KIND", counters, enum fathom_counter, struct report_rows,
                  report.profile.counter,
                  "with --phi: lss (default), bss, lc, sticky or purge; see fathom-hcct(1)"),
    REPORT_EVENT("which event, if the recording has several"),
    STORE_SELECTION(struct report_command_options, store),
    REPORT_FILTER,
    PHASE_FILTER(
        "phase",
        "only samples of the phases of these numbers, as fathom phases prints them with the same options"),
    PHASE_ROWS,
    REPORT_FRAMING,
    REPORT_DATA,
    REPORT_WAKERS,
    REPORT_SYMFS,
    REPORT_WIDE,
    REPORT_COLOUR,
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details, such as a longer heading"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command report_command = {
    .name = "report",
    .summary = "print the hot calling contexts of a recording",
    .synopsis = "[OPTIONS] [RECORDING]",
    .about = "Finds each sample's call path from the recording's own stacks, and infers it from these and a "
             "path map where there is none; prints the hot calling contexts. What is unsure or unknown is "
             "marked as such and stays in the totals.",
    .options = rows,
    .paged = true,
    .run = report_run,
};
