/* hcct.c - `fathom hcct`: records call traces, and runs counters over them. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/privilege.h"

struct hcct_values {
    const char *output;
    struct fathom_replay_options replay;
    struct fathom_tree_options trees;
};

INTERRUPT_BY(stop_trace, fathom_call_trace_stop)

static int record_trace(struct fathom_call_trace *trace, struct fathom_error *err)
{
    struct interrupted_run run;
    interrupt_hold(&run);
    int rc = fathom_call_trace_start(trace, err);
    interrupt_begin(&run, stop_trace, trace);
    if (rc == 0)
        fathom_call_trace_run(trace);
    interrupt_end(&run);
    return rc == 0 ? fathom_call_trace_save(trace, err) : rc;
}

static int run_record(const struct hcct_values *o, char **words, int count, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct fathom_call_trace *trace = NULL;
    struct fathom_call_trace_options options = {
        .output = o->output, .command = words, .runtime = getenv("FATHOM_PROBE_LIBRARY")};
    if (!o->output || count < 1)
        return option_usage(terminal, "'record' needs --output and a command");
    int status = -1;
    signal(SIGPIPE, SIG_IGN);
    int rc = fathom_call_trace_open(&options, &terminal->listener, &trace, &err);
    if (rc == 0) {
        output_alone(o->output);
        rc = record_trace(trace, &err);
        status = fathom_call_trace_status(trace);
    }
    int code = exit_result(terminal, rc, &err);
    fathom_call_trace_close(trace);
    return rc == 0 && status >= 0 ? exit_code_of_status(status) : code;
}

/* Runs a verb that reads files and prints: replay, compare, or show. */
static int run_print(struct hcct_values *o, char verb, char **words, int count, struct terminal *terminal)
{
    struct fathom_error err = {0};
    if (count != (verb == 'c' ? 2 : 1))
        return option_usage(terminal, verb == 'r'   ? "'replay' needs one trace"
                                      : verb == 'c' ? "'compare' needs two trees or traces"
                                                    : "'show' needs one tree or trace");
    if (verb == 'r' && o->replay.eps >= o->replay.phi)
        return option_usage(terminal, "--eps must be below --phi");
    o->trees.phi = o->replay.phi;
    o->trees.rows = o->replay.paths ? o->replay.paths : o->trees.rows;
    o->trees.width = terminal_width(stdout);
    pager_start(terminal);
    privilege_only_read(terminal);
    int rc = verb == 'r'   ? fathom_call_trace_replay(words[0], &o->replay, stdout, &err)
             : verb == 'c' ? fathom_tree_compare(words[0], words[1], &o->trees, stdout, &err)
                           : fathom_tree_show(words[0], &o->trees, stdout, &err);
    return exit_result(terminal, rc, &err);
}

static int run_merge(const struct hcct_values *o, char **words, int count, struct terminal *terminal)
{
    struct fathom_error err = {0};
    if (count < 1 || !o->output)
        return option_usage(terminal, "'merge' needs trees or traces, and --output");
    signal(SIGPIPE, SIG_IGN);
    int rc = fathom_tree_merge(words, (size_t)count, o->output, &err);
    return exit_result(terminal, rc, &err);
}

static int hcct_run(int argc, char **argv, struct terminal *terminal)
{
    struct hcct_values options = {.replay = {.phi = 1e-4, .delta = 0.01, .runs = 1},
                                  .trees = {.min_percent = 0.5, .rows = 20}};
    const char *verb = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
    if (*verb) { /* the options follow it */
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    bool record = strcmp(verb, "record") == 0;
    int code = options_parse(&hcct_command, &options, !record, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (record)
        return run_record(&options, argv + optind, argc - optind, terminal);
    if (strcmp(verb, "replay") == 0 || strcmp(verb, "show") == 0 || strcmp(verb, "compare") == 0)
        return run_print(&options, *verb, argv + optind, argc - optind, terminal);
    if (strcmp(verb, "merge") == 0)
        return run_merge(&options, argv + optind, argc - optind, terminal);
    return option_usage(terminal, "give one of: record, replay, show, compare, merge");
}

static const struct option_word formats[] = {{"text", FATHOM_TREE_TEXT}, {"dot", FATHOM_TREE_DOT}, {0}};

static const struct option_row rows[] = {
    OPTION_TEXT("output", 'o', "FILE", struct hcct_values, output,
                "the trace, or the tree that merge writes"),
    OPTION_TABLE_BITS("counter", 'c', "KIND,...", fathom_tree_counters, struct fathom_word,
                      struct hcct_values, replay.counters, "which (default: all): "),
    OPTION_FRACTION("phi", 0, "P", 1e-9, 0.999999, struct hcct_values, replay.phi,
                    "a context is hot with this part of the weight or more (default: 0.0001)"),
    OPTION_FRACTION("eps", 0, "E", 1e-9, 1, struct hcct_values, replay.eps,
                    "the error allowed (default: a fifth of phi)"),
    OPTION_FRACTION("delta", 0, "D", 1e-9, 0.5, struct hcct_values, replay.delta,
                    "the probability that Sticky Sampling fails (default: 0.01)"),
    OPTION_FLAG("functions", 0, struct hcct_values, replay.by_function,
                "contexts of functions, wherever they were called (default: with call sites)"),
    OPTION_FLAG("ticks", 0, struct hcct_values, replay.ticks,
                "weigh calls by ticks of the time-stamp counter since the one before"),
    OPTION_NUMBER("paths", 'n', "N", 1, UINT32_MAX, struct hcct_values, replay.paths,
                  "replay: also print the N heaviest contexts: weight, how much of it may not be its own, "
                  "the path; show, compare: how many contexts (default: 20)"),
    OPTION_CHOICE("format", 0, "FORMAT", formats, enum fathom_tree_format, struct hcct_values, trees.format,
                  "of show: text, or dot (for Graphviz)"),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct hcct_values, trees.min_percent,
                    "with dot: leave out contexts that weigh less (default: 0.5)"),
    OPTION_NUMBER("runs", 0, "N", 1, 1000, struct hcct_values, replay.runs,
                  "tell the fastest of N runs (default: 1)"),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command hcct_command = {
    .name = "hcct",
    .summary = "record call traces, and count their contexts in bounded memory",
    .synopsis = "record -o TRACE [--] COMMAND...\n"
                "replay [OPTIONS] TRACE\n"
                "show [OPTIONS] TREE\n"
                "compare [OPTIONS] TREE TREE\n"
                "merge -o TREE TREE...",
    .about = "record runs a command with hooks in its functions, as 'fathom train' does, and writes all "
             "calls and returns in their order; replay feeds such a trace to the counters and tells what an "
             "event takes, how much memory, and how far the hot contexts found are from the exact ones. "
             "show, compare and merge take trees that 'fathom calls --output' saved, or traces.",
    .options = rows,
    .run = hcct_run,
};
