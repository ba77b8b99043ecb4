/* diff.c - `fathom diff A B`: prints what changed between recordings, or between saved trees. */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/phase_rows.h"
#include "cli/privilege.h"
#include "cli/shared_rows.h"

struct diff_command_options {
    struct report_rows rows; /* first: some are also those of fathom report */
    struct fathom_diff_options diff;
    struct fathom_store_selection store;
    const struct fathom_word *format;
};

static void complete_options(struct diff_command_options *o, char **names, const struct terminal *terminal)
{
    const struct fathom_report_options *report = &o->rows.report;
    report_rows_complete(&o->rows, terminal);
    o->diff.sides[0] = names[0];
    o->diff.sides[1] = report->profile.phase_count ? names[0] : names[1];
    o->diff.store = o->store.url ? &o->store : NULL;
    o->diff.profile = report->profile;
    o->diff.output = report->output;
    o->diff.format = o->format->name;
    o->diff.colour = report->colour;
    o->diff.width = report->width;
}

static int print_diff(struct fathom_diff *diff, struct terminal *terminal, struct fathom_error *err)
{
    const struct fathom_writing *w = fathom_diff_writing(diff);
    privilege_only_read_and(w, terminal);
    int rc = fathom_diff_run(diff, err);
    terminal_progress_end(terminal);
    return rc == 0 ? fathom_diff_write(diff, stdout, err) : rc;
}

static int diff_files(struct diff_command_options *options, char **names, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct fathom_diff *diff = NULL;
    complete_options(options, names, terminal);
    int rc = fathom_diff_open(&options->diff, &terminal->listener, &diff, &err);
    if (rc == 0)
        rc = print_diff(diff, terminal, &err);
    int code = rc == 0 && fathom_diff_stale(diff) ? EXIT_BUILD : exit_result(terminal, rc, &err);
    fathom_diff_close(diff);
    return code;
}

/* Whether an operand is a side of a store, not a file. */
static bool is_side(const char *name)
{
    static const char *const words[] = {"service=", "host=", "build=", "since=", "until="};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0)
            return access(name, F_OK) != 0;
    return false;
}

static int diff_run(int argc, char **argv, struct terminal *terminal)
{
    struct diff_command_options options = {.format = fathom_diff_formats};
    report_rows_init(&options.rows);
    fathom_diff_defaults(&options.diff);
    int code = options_parse(&diff_command, &options, true, argc, argv, terminal);
    if (code < 0)
        code = store_rows_check(&options.store, terminal);
    bool phases = options.rows.phases.count;
    if (code < 0 && argc - optind != (phases ? 1 : 2))
        code = option_usage(
            terminal, "%s",
            phases ? "give one recording, of which two phases are to be compared"
            : options.store.url
                ? "give two sides, such as 'build=1f3a' 'build=9c2b', or 'since=2d,until=1d' 'since=1d'"
                : "give two recordings, or two lists 'A1,A2' 'B1,B2'");
    if (code < 0 && !options.store.url && is_side(argv[optind]))
        code = option_usage(terminal, "'%s' is a side of a store, which --store has to name", argv[optind]);
    if (code < 0)
        code = diff_files(&options, argv + optind, terminal);
    report_rows_clear(&options.rows);
    return code;
}

static const struct option_row rows[] = {
    OPTION_FLAG("absolute", 0, struct diff_command_options, diff.absolute,
                "compare weights of recordings, not shares of their weight"),
    OPTION_FLAG("all", 0, struct diff_command_options, diff.all,
                "show also what changed by no more than chance"),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct diff_command_options, diff.min_percent,
                    "do not compare what weighs less, on average of A and B (default: 0.1)"),
    OPTION_TABLE("format", 0, "FORMAT", fathom_diff_formats, struct fathom_word, struct diff_command_options,
                 format, ""),
    REPORT_OUTPUT("write the difference to a file (default: standard output)"),
    REPORT_METRIC("what contexts are weighed by: "),
    REPORT_EVENT("which event, if recordings have several or other ones"),
    STORE_SELECTION(struct diff_command_options, store),
    REPORT_MAP,
    REPORT_NO_CACHE,
    REPORT_FILTER,
    PHASE_FILTER("phases", "compare these two phases of one recording"),
    PHASE_ROWS,
    REPORT_FRAMING,
    REPORT_SYMFS,
    REPORT_WIDE,
    REPORT_COLOUR,
    OPTION_QUIET("print no progress and no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command diff_command = {
    .name = "diff",
    .summary = "print what changed between two recordings",
    .synopsis = "[OPTIONS] A[,A2...] B[,B2...]\n"
                "[OPTIONS] --phases 1,2 RECORDING\n"
                "--store STORE [--service NAME] [OPTIONS] A B",
    .about = "Compares the contexts and functions of two recordings, or of several each, and prints those "
             "whose change from A to B is more than chance. Trees that 'fathom calls' saved are compared, "
             "too. With --store, a side is 'all', or some of service=, host=, build=, since= and until= with "
             "commas between, and its hosts are what recordings are otherwise.",
    .options = rows,
    .paged = true,
    .run = diff_run,
};
