/* trace.c - `fathom trace`: traces a command, duplicates a file, or compares traces. */
#include <getopt.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/pager.h"
#include "cli/privilege.h"
#include "cli/trace_rows.h"

struct trace_values {
    struct trace_rows rows; /* first */
    const char *emit;
};

static int emit_file(const struct trace_values *v, const char *file, struct terminal *terminal)
{
    struct fathom_error err = {0};
    int rc = fathom_trace_emit(file, v->emit, &v->rows.options.code, &terminal->listener, &err);
    terminal_progress_end(terminal);
    return trace_exit_result(terminal, rc, &err);
}

static int compare_traces(char **traces, int count, struct terminal *terminal)
{
    struct fathom_error err = {0};
    if (count != 2)
        return option_usage(terminal, "'compare' needs two traces");
    pager_start(terminal);
    privilege_only_read(terminal);
    int rc = fathom_streams_compare(traces[0], traces[1], &terminal->listener, stdout, &err);
    terminal_progress_end(terminal);
    return trace_exit_result(terminal, rc, &err);
}

/* A command with this name can be run as `-- compare`. */
static bool is_compare(char **argv)
{
    return strcmp(argv[optind], "compare") == 0 && strcmp(argv[optind - 1], "--") != 0;
}

static int run_trace(struct trace_values *v, int argc, char **argv, struct terminal *terminal)
{
    if (optind == argc)
        return option_usage(terminal,
                            "give a command to run, a program for --emit, or two traces to compare");
    int status, code = trace_rows_complete(&v->rows, terminal);
    if (code >= 0)
        return code;
    if (v->emit && (argc - optind != 1 || v->rows.images.count || v->rows.files.count))
        return option_usage(terminal, "--emit duplicates one file, and takes no --image or --file");
    if (v->emit)
        return emit_file(v, argv[optind], terminal);
    if (is_compare(argv))
        return compare_traces(argv + optind + 1, argc - optind - 1, terminal);
    code = trace_rows_run(&v->rows, argv + optind, terminal, &status);
    return code == EXIT_OK && status >= 0 ? exit_code_of_status(status) : code;
}

static int trace_run(int argc, char **argv, struct terminal *terminal)
{
    struct trace_values v = {0};
    trace_rows_init(&v.rows);
    int code = options_parse(&trace_command, &v, false, argc, argv, terminal);
    if (code < 0)
        code = run_trace(&v, argc, argv, terminal);
    trace_rows_clear(&v.rows);
    return code;
}

static const struct option_row rows[] = {
    TRACE_OUTPUT("the directory of the trace (default: fathom.trace); an earlier one becomes DIR.old"),
    OPTION_TEXT(
        "emit", 0, "FILE", struct trace_values, emit,
        "run nothing: write the duplicated program or library, and the list of its places, FILE.sites"),
    TRACE_RATES,
    TRACE_LOG("loads,stores"),
    TRACE_CODE,
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details: what is duplicated, and what is not logged"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command trace_command = {
    .name = "trace",
    .summary = "log what a program refers to, in order, in short bursts",
    .synopsis = "[OPTIONS] [-o DIR] [--] COMMAND [ARG...]\n"
                "--emit FILE [OPTIONS] PROGRAM\n"
                "compare TRACE TRACE",
    .about = "Runs a command whose functions have two versions: one counts down to the next burst, the other "
             "logs each load and store, or each call, until the burst ends. 'fathom streams' finds what "
             "repeats in that. 'compare' tells how much the hot streams of two traces of a program overlap.",
    .options = rows,
    .notes = "If nothing fails, the exit code is the command's own; see fathom-trace(1).",
    .run = trace_run,
};
