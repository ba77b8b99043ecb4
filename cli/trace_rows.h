/* trace_rows.h - options of the commands that trace a program: rows of their tables, and how they are used. */
#ifndef FATHOM_CLI_TRACE_ROWS_H
#define FATHOM_CLI_TRACE_ROWS_H

#include "api/fathom-streams.h"
#include "cli/options.h"

struct trace_rows {
    struct fathom_trace_options options;
    struct option_names images, functions, files;
    uint64_t boring;
    double overhead; /* percent; 0: not given */
    bool full, every_loop;
};

void trace_rows_init(struct trace_rows *rows);
/* Checks and completes the options. -1, or an exit code. */
int trace_rows_complete(struct trace_rows *rows, struct terminal *terminal);
/* Runs the command. Returns an exit code; *status: the command's wait status, or -1. */
int trace_rows_run(struct trace_rows *rows, char *const *command, struct terminal *terminal, int *status);
/* exit_result() for these commands, for which a trace without the requested data counts as no sample. */
int trace_exit_result(struct terminal *terminal, int rc, const struct fathom_error *err);
void trace_rows_clear(struct trace_rows *rows);

extern const struct option_word trace_logs[], trace_entries[];

/* The command's struct begins with the rows. */
/* clang-format off */
#define TRACE_OUTPUT(text) \
    OPTION_TEXT("output", 'o', "DIR", struct trace_rows, options.output, text)
#define TRACE_RATES \
    OPTION_NUMBER("checks", 0, "N", 1, UINT32_MAX, struct trace_rows, options.checks, \
                  "between two bursts (default: 10000)"), \
    OPTION_NUMBER("burst", 0, "N", 1, INT32_MAX, struct trace_rows, options.burst, \
                  "checks of a burst (default: 50)"), \
    OPTION_FRACTION("overhead", 0, "PERCENT", 0.1, 10000, struct trace_rows, overhead, \
                    "choose --checks so that the run takes so much more CPU time; runs the command six times before, " \
                    "without its output"), \
    OPTION_FLAG("full", 0, struct trace_rows, full, "log everything, loops that are boring, too, as one burst"), \
    OPTION_NUMBER("bytes", 0, "MB", 1, 1u << 20, struct trace_rows, options.bytes, \
                  "of each thread's trace, which ends there (default: 1024)")
#define TRACE_LOG(usual) \
    OPTION_CHOICES("log", 0, "WHAT,...", trace_logs, struct trace_rows, options.code.log, \
                   "loads, stores, stack (these also where they are relative to the stack pointer), blocks, calls " \
                   "(default: " usual ")")
#define TRACE_CODE \
    OPTION_IMAGES(struct trace_rows, images, \
                  "only files whose names start with one of these, libraries, too (default: the program)"), \
    OPTION_NAMES("file", "PATH,...", struct trace_rows, files, \
                 "also these files: programs that it executes, libraries that it loads while it runs"), \
    OPTION_NAMES("function", "PATTERN,...", struct trace_rows, functions, \
                 "only functions whose names match one of these, as in a shell"), \
    OPTION_CHOICE("entries", 0, "WHICH", trace_entries, enum fathom_trace_entries, struct trace_rows, \
                  options.code.entries, \
                  "which functions have checks at their entries: cycles (default; as few as are enough), callers " \
                  "(all that call others), all"), \
    OPTION_NUMBER("boring", 0, "K", 0, INT32_MAX, struct trace_rows, boring, \
                  "loops without calls, and with at most K places that log, have no check and log nothing (default: 0)"), \
    OPTION_FLAG("every-loop", 0, struct trace_rows, every_loop, "no loop is boring")
/* clang-format on */

#endif
