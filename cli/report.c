/* report.c - `fathom report`: prints a recording's hot calling contexts. */
#include <getopt.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/inferred.h"
#include "cli/privilege.h"
#include "cli/report_file.h"
#include "cli/report_rows.h"

/* --no-audit */
static bool take_no_audit(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct report_options *options = value;
    (void)terminal, (void)row, (void)text;
    options->engine.learning = LEARN_NOTHING;
    return true;
}

/* A view may need accesses. --phi alone: eps = phi / 5, as in the HCCT paper (section 5.2). */
static bool complete(struct report_options *o, struct terminal *terminal)
{
    if (o->view.view && o->view.view->accesses)
        o->profile.framing.accesses = true;
    if (o->phi > 0 && o->profile.eps == 0)
        o->profile.eps = o->phi / 5;
    o->profile.phi = o->phi;
    if (o->format->recording && !o->output) {
        terminal_wrong(terminal, "--format %s needs a file to write: -o FILE", o->format->name);
        return false;
    }
    if (o->certainty == PERF_CERTAINTY_FRAME && o->output && strcmp(o->output, "-") == 0) {
        terminal_wrong(terminal, "--certainty frame needs a file that stays where it is: -o FILE");
        return false;
    }
    if (o->phi > 0 && ((o->format->samples && !o->format->bounded) || o->format->recording)) {
        terminal_wrong(terminal, "--format %s shows each sample: it cannot be made in bounded memory (--phi)",
                       o->format->name);
        return false;
    }
    if (o->profile.eps > 0 && o->phi <= o->profile.eps) {
        terminal_wrong(terminal, "--eps must be smaller than --phi");
        return false;
    }
    return true;
}

static int report_run(int argc, char **argv, struct terminal *terminal)
{
    struct report_options options = REPORT_DEFAULTS;
    int code = options_parse(&report_command, &options, true, argc, argv, terminal);
    if (code < 0 && optind < argc)
        code = option_usage(terminal, &report_command, "unexpected argument '%s'; give the recording with -i",
                            argv[optind]);
    if (code < 0)
        code = complete(&options, terminal) ? reporting_file(&options, terminal)
                                            : option_usage(terminal, &report_command, NULL);
    report_options_clear(&options);
    return code;
}

static const struct option_word ambiguities[] = {{"likely", AMBIGUOUS_LIKELY},
                                                 {"best", AMBIGUOUS_BEST},
                                                 {"split", AMBIGUOUS_SPLIT},
                                                 {"common", AMBIGUOUS_COMMON},
                                                 {0}};
static const struct option_word certainties[] = {
    {"weight", PERF_CERTAINTY_WEIGHT}, {"frame", PERF_CERTAINTY_FRAME}, {0}};
static const struct option_word counters[] = {{"lss", HCCT_LSS},       {"bss", HCCT_BSS},     {"lc", HCCT_LC},
                                              {"sticky", HCCT_STICKY}, {"purge", HCCT_PURGE}, {0}};
static const struct option_row rows[] = {
    REPORT_INPUT,
    REPORT_MAP,
    REPORT_OUTPUT("write the report to a file (default: standard output)"),
    OPTION_OWN("no-audit", 0, NULL, take_no_audit, "do not use the recording's own stacks"),
    REPORT_NO_CACHE,
    INFERENCE_NO_AUTOMATON(struct report_options),
    INFERENCE_NO_TEMPORAL(struct report_options),
    INFERENCE_NO_EM(struct report_options),
    OPTION_CHOICE("ambiguous", 0, "WHAT", ambiguities, enum profile_ambiguity, struct report_options,
                  profile.ambiguity,
                  "what to show where several paths are possible: likely (the frames from the root that are "
                  "at least 50% sure, then '[one of 3 paths]'; the default), best (the most probable path), "
                  "split (each path with its share) or common (the frames they have in common)"),
    OPTION_FLAG("confidence", 0, struct report_options, view.confidence,
                "show how sure each row is; always shown if a row is less than 90% sure"),
    OPTION_FRACTION("min-confidence", 0, "P", 0, 1, struct report_options, profile.min_confidence,
                    "contexts less probable than P (0 to 1) are unknown"),
    OPTION_TABLE("view", 0, "VIEW", view_table, struct view, struct report_options, view.view, ""),
    REPORT_METRIC("what contexts are weighed by: "),
    OPTION_TABLE("format", 0, "FORMAT", format_table, struct format, struct report_options, format, ""),
    OPTION_CHOICE("certainty", 0, "WHAT", certainties, enum perf_certainty, struct report_options, certainty,
                  "of --format perf, how sure each path is: weight (in percent, as the sample's weight; the "
                  "default) or frame (a frame too, outermost, if it is not proved)"),
    REPORT_MIN("omit rows that weigh less (default: 0.5)"),
    REPORT_MOST("only the N hottest contexts"),
    OPTION_NUMBER(
        "annotate", 0, "COUNT", 0, 10000, struct report_options, listed,
        "of --format html: how many of the hottest functions the page has the code of (default: 100)"),
    OPTION_FRACTION("phi", 0, "P", 1e-9, 0.999, struct report_options, phi,
                    "hot contexts in bounded memory: those of at least P of the weight"),
    OPTION_FRACTION("eps", 0, "E", 1e-9, 0.999, struct report_options, profile.eps,
                    "with --phi: counters are within E of the weight (default: P/5)"),
    OPTION_CHOICE("counter", 0, "KIND", counters, enum hcct_kind, struct report_options, profile.counter,
                  "with --phi: lss (default), bss, lc, sticky or purge; see fathom-hcct(1)"),
    REPORT_EVENT("which event, if the recording has several"),
    REPORT_FILTER,
    REPORT_FRAMING,
    REPORT_DATA,
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
    .synopsis = "[OPTIONS]",
    .about =
        "Finds each sample's call path from the recording's own stacks, and infers it from these and a path "
        "map where there is none; prints the hot calling contexts. What is unsure or unknown is marked as "
        "such and stays in the totals.",
    .options = rows,
    .paged = true,
    .run = report_run,
};
