/* streams.c - `fathom streams`: prints the hot streams of a trace, or of a command that it traces. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/privilege.h"
#include "cli/trace_rows.h"

#define DEFAULT_TRACE "fathom.trace"
#define FILE_WIDTH    100 /* columns, if the output is not a terminal */

struct streams_values {
    struct trace_rows rows; /* first */
    struct fathom_streams_options streams;
    const char *output, *keep;
    bool wide;
};

/* Collects the text first, so that it does not mix with progress on the terminal. */
static int print_streams(struct streams_values *v, struct outfile *out, struct terminal *terminal,
                         struct fathom_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    int rc = to ? fathom_streams_write(&v->streams, &terminal->listener, to, err) : error_memory(err);
    terminal_progress_end(terminal);
    if (to && fclose(to) != 0 && rc == 0)
        rc = error_memory(err);
    if (rc == 0 && out)
        rc = outfile_put(out, text, size, err);
    if (rc == 0 && !out)
        fwrite(text, 1, size, stdout);
    free(text);
    return rc;
}

static int report_streams(struct streams_values *v, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct outfile *out = NULL;
    int rc = v->output ? output_open(v->output, &out, &err) : 0;
    size_t width = terminal_width(stdout);
    v->streams.width = v->wide ? 0 : !out && width ? width : FILE_WIDTH;
    if (rc == 0 && !out)
        pager_start(terminal); /* it cannot be executed later */
    const struct fathom_writing writing = {.output = out ? outfile_target(out) : NULL};
    if (rc == 0) {
        privilege_only_read_and(&writing, terminal);
        rc = print_streams(v, out, terminal, &err);
    }
    const int code = trace_exit_result(terminal, rc, &err);
    pager_end(terminal); /* until it has read something, it keeps open what scratch_free() waits for */
    outfile_close(out);
    return code;
}

/* Renames the directory, so that processes that outlive the command make no more files in it, and it can be removed. */
static void hide_trace(char **directory)
{
    char *hidden;
    if (asprintf(&hidden, "%s.ended", *directory) < 0)
        return;
    if (rename(*directory, hidden) == 0) {
        free(*directory);
        *directory = hidden;
    } else {
        free(hidden);
    }
}

/* Without --trace the trace is removed after the report. */
static int trace_and_report(struct streams_values *v, char *const *command, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct scratch *scratch = NULL;
    char *directory = NULL;
    int status = -1, rc = v->keep ? 0 : scratch_new(&scratch, &err);
    if (rc == 0 && !v->keep && asprintf(&directory, "%s/trace", scratch_directory(scratch)) < 0)
        rc = error_memory(&err);
    if (rc < 0) {
        scratch_free(scratch);
        return trace_exit_result(terminal, rc, &err);
    }
    v->rows.options.temporary = !v->keep;
    v->rows.options.output = v->streams.trace = v->keep ? v->keep : directory;
    int code = trace_rows_run(&v->rows, command, terminal, &status);
    if (directory) {
        hide_trace(&directory); /* while there are rights to do so */
        v->streams.trace = directory;
    }
    if (code == EXIT_OK)
        code = report_streams(v, terminal);
    scratch_free(scratch);
    free(directory);
    return code == EXIT_OK && status >= 0 ? exit_code_of_status(status) : code;
}

static int complete_options(struct streams_values *v, bool command, int operands, struct terminal *terminal)
{
    struct fathom_trace_code *code = &v->rows.options.code;
    const struct fathom_streams_options *s = &v->streams;
    if (!code->log && s->of == FATHOM_STREAMS_CALLS)
        code->log = 1u << FATHOM_TRACE_CALLS;
    if (s->shortest > s->longest)
        return option_usage(terminal, "--shortest must not be above --longest");
    if (!command && operands > 1)
        return option_usage(terminal, "give one trace, or a command after '--'");
    if (!command && v->keep)
        return option_usage(terminal, "--trace is where a command's trace is kept: give one, after '--'");
    return trace_rows_complete(&v->rows, terminal);
}

static int streams_run(int argc, char **argv, struct terminal *terminal)
{
    struct streams_values v = {.streams = {.shortest = 2, .longest = 100, .cover = 90, .rows = 10}};
    trace_rows_init(&v.rows);
    int arguments = option_words_after(argc, argv),
        code = options_parse(&streams_command, &v, true, argc, argv, terminal);
    bool command = code < 0 && optind < argc && arguments == argc - optind;
    if (code < 0 && arguments == 0)
        code = option_usage(terminal, "give a command after '--'");
    if (code < 0)
        code = complete_options(&v, command, argc - optind, terminal);
    if (code < 0 && command) {
        code = trace_and_report(&v, argv + optind, terminal);
    } else if (code < 0) {
        v.streams.trace = optind < argc ? argv[optind] : DEFAULT_TRACE;
        code = report_streams(&v, terminal);
    }
    trace_rows_clear(&v.rows);
    return code;
}

static const struct option_word of[] = {{"data", FATHOM_STREAMS_DATA}, {"calls", FATHOM_STREAMS_CALLS}, {0}};
static const struct option_word formats[] = {
    {"text", FATHOM_STREAMS_TEXT}, {"json", FATHOM_STREAMS_JSON}, {"html", FATHOM_STREAMS_HTML}, {0}};

static const struct option_row rows[] = {
    OPTION_CHOICE("of", 0, "WHAT", of, enum fathom_streams_of, struct streams_values, streams.of,
                  "data: which objects are used one after another (default); calls: functions and blocks "
                  "that are executed one after another"),
    OPTION_CHOICE("format", 'f', "FORMAT", formats, enum fathom_streams_format, struct streams_values,
                  streams.format, "text, json, or html (a page)"),
    OPTION_TEXT("output", 'o', "FILE", struct streams_values, output, "write to a file"),
    OPTION_NUMBER("rows", 'n', "N", 0, UINT32_MAX, struct streams_values, streams.rows,
                  "the N hottest kinds of streams (default: 10); 0: all"),
    OPTION_NUMBER("shortest", 0, "N", 2, 4096, struct streams_values, streams.shortest,
                  "streams of at least N references (default: 2)"),
    OPTION_NUMBER("longest", 0, "N", 2, 4096, struct streams_values, streams.longest,
                  "and at most N (default: 100)"),
    OPTION_FRACTION("cover", 0, "PERCENT", 1, 100, struct streams_values, streams.cover,
                    "so much of all references is to be in hot streams, if it can (default: 90)"),
    OPTION_FLAG("wide", 0, struct streams_values, wide,
                "paths in full, also where they are longer than the terminal is wide"),
    OPTION_LINE("With a command:"),
    OPTION_TEXT("trace", 0, "DIR", struct streams_values, keep,
                "keep its trace there (default: it is removed at the end)"),
    TRACE_RATES,
    TRACE_LOG("loads,stores; with --of calls, calls"),
    TRACE_CODE,
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command streams_command = {
    .name = "streams",
    .summary = "print which objects a program uses one after another, again and again",
    .synopsis = "[OPTIONS] [TRACE]\n"
                "[OPTIONS] -- COMMAND [ARG...]",
    .about = "Finds the hot streams of a trace of 'fathom trace', or of a command that it traces: sequences "
             "of references that repeat. Prints which objects they walk in which order, where these were "
             "allocated, under which call paths that is done, and how many cache lines it takes.",
    .options = rows,
    .notes = "See fathom-streams(1).",
    .run = streams_run,
};
