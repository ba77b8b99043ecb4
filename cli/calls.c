/* calls.c - `fathom calls`: its options, and when it prints. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/phases_policy.h"

#define RE_ENABLE 10.0 /* percent: one of the ratios of the HCCT paper's figure 13 */

struct calls_values {
    struct fathom_calls_options options;
    struct fathom_calls_listing listing;
    const struct fathom_word *view;
    uint64_t rows;
    double every; /* seconds; 0: at the end only */
    struct option_names images;
    enum colour_when colour;
    bool wide;
};

INTERRUPT_BY(stop_calls, fathom_calls_stop)

static int print_now(struct fathom_calls *calls, const struct calls_values *v, struct terminal *terminal,
                     struct fathom_error *err)
{
    struct fathom_calls_listing listing = v->listing;
    int rc = fathom_calls_count(calls, err);
    if (rc < 0)
        return rc;
    pager_start(terminal);
    listing.colour = terminal_colour(v->colour, stdout);
    listing.width = v->wide ? 0 : terminal_width(stdout);
    return fathom_calls_write(calls, &listing, stdout, err);
}

/* --every: failures are only reported at the end. */
static void print_while_it_runs(struct fathom_calls *calls, const struct calls_values *v,
                                struct terminal *terminal)
{
    uint64_t began = clock_ns();
    while (fathom_calls_run(calls, v->every)) {
        if (v->listing.format == FATHOM_CALLS_TEXT)
            printf("after %.1f s:\n", (double)(clock_ns() - began) / 1e9);
        print_now(calls, v, terminal, NULL);
        putchar('\n');
        fflush(stdout);
    }
}

static int run_calls(struct fathom_calls *calls, const struct calls_values *v, struct terminal *terminal,
                     struct fathom_error *err)
{
    struct interrupted_run run;
    interrupt_hold(&run);
    int rc = fathom_calls_start(calls, err);
    interrupt_begin(&run, stop_calls, calls);
    if (rc == 0)
        print_while_it_runs(calls, v, terminal);
    interrupt_end(&run);
    if (rc == 0)
        rc = print_now(calls, v, terminal, err);
    return rc == 0 ? fathom_calls_save(calls, err) : rc;
}

static int count_calls(const struct calls_values *v, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct fathom_calls *calls = NULL;
    int status = -1;
    if (v->options.output)
        signal(SIGPIPE, SIG_IGN);
    int rc = fathom_calls_open(&v->options, &terminal->listener, &calls, &err);
    if (rc == 0) {
        if (v->options.output)
            output_alone(v->options.output);
        rc = run_calls(calls, v, terminal, &err);
        status = fathom_calls_status(calls);
    }
    int code = exit_result(terminal, rc, &err);
    fathom_calls_close(calls);
    return rc == 0 && status >= 0 ? exit_code_of_status(status) : code;
}

/* NULL: the options go together. */
static const char *wrong_use(const struct fathom_calls_options *o)
{
    const bool sticky = o->counter == FATHOM_CALLS_STICKY, phases = o->phase_interval > 0;
    return o->eps >= o->phi                           ? "--eps must be below --phi"
           : o->burst > 0 && o->interval <= o->burst  ? "--interval must be longer than --burst"
           : sticky && o->metric == FATHOM_CALLS_TIME ? "--counter sticky counts calls, not time"
           : sticky && o->adaptive ? "--counter sticky counts calls one by one, and --adaptive some for many"
           : o->interval > 0 && !(o->burst > 0)             ? "--interval needs --burst"
           : o->adaptive && !(o->burst > 0)                 ? "--adaptive needs --burst"
           : o->re_enable >= 0 && !o->adaptive              ? "--re-enable needs --adaptive"
           : (o->phase_policy || o->phase_share) && !phases ? "--phases-policy needs --phases"
           : phases && o->burst > 0
               ? "--phases goes without bursts, which are other times at which hooks are in"
           : phases && o->metric != FATHOM_CALLS_NUMBER
               ? "--phases goes without --metric time: calls are counted"
           : phases && o->counter != FATHOM_CALLS_PURGE && o->counter != FATHOM_CALLS_EXACT
               ? "--phases goes without --counter: the counts are exact in an interval"
               : NULL;
}

static int calls_run(int argc, char **argv, struct terminal *terminal)
{
    struct calls_values v = {
        .options = {.phi = 1e-4, .re_enable = -1, .runtime = getenv("FATHOM_PROBE_LIBRARY")},
        .listing = {.min_percent = 0.5},
        .view = &fathom_views[0]};
    struct fathom_calls_options *o = &v.options;
    struct fathom_error err;
    int code = options_parse(&calls_command, &v, false, argc, argv, terminal);
    if (code < 0 && optind == argc)
        code = option_usage(terminal, "give a command to run");
    v.listing.view = v.view->name;
    if (code < 0 && fathom_calls_check(&v.listing, &err) < 0)
        code = option_usage(terminal, "%s", err.text);
    const char *wrong = wrong_use(o);
    if (code < 0 && wrong)
        code = option_usage(terminal, "%s", wrong);
    if (o->re_enable < 0)
        o->re_enable = RE_ENABLE;
    v.listing.rows = (unsigned)v.rows;
    o->images = v.images.at;
    o->image_count = v.images.count;
    o->command = argv + optind;
    if (code < 0)
        code = count_calls(&v, terminal);
    free((void *)(uintptr_t)v.images.at);
    return code;
}

static bool take_policy(struct terminal *terminal, const struct option_row *row, char *text, void *value)
{
    struct calls_values *v = value;
    return phases_policy_option(terminal, row, text, &v->options.phase_policy, &v->options.phase_share);
}

static const struct option_word kinds[] = {{"purge", FATHOM_CALLS_PURGE},
                                           {"exact", FATHOM_CALLS_EXACT},
                                           {"lss", FATHOM_CALLS_LSS},
                                           {"bss", FATHOM_CALLS_BSS},
                                           {"lc", FATHOM_CALLS_LC},
                                           {"sticky", FATHOM_CALLS_STICKY},
                                           {0}};
static const struct option_word metrics[] = {
    {"calls", FATHOM_CALLS_NUMBER}, {"time", FATHOM_CALLS_TIME}, {0}};
static const struct option_word formats[] = {
    {"text", FATHOM_CALLS_TEXT}, {"folded", FATHOM_CALLS_FOLDED}, {0}};

static const struct option_row rows[] = {
    OPTION_CHOICE(
        "counter", 0, "KIND", kinds, enum fathom_calls_counter, struct calls_values, options.counter,
        "hot contexts in bounded memory: purge (default), lss, bss, lc or sticky; all contexts: exact"),
    OPTION_FRACTION("phi", 0, "P", 1e-9, 0.999, struct calls_values, options.phi,
                    "but with exact: contexts with this part of the weight or more (default: 0.0001)"),
    OPTION_FRACTION("eps", 0, "E", 1e-9, 0.999, struct calls_values, options.eps,
                    "but with exact: the error to aim at, which sets the memory (default: a fifth of phi)"),
    OPTION_CHOICE(
        "metric", 0, "NAME", metrics, enum fathom_calls_metric, struct calls_values, options.metric,
        "what contexts are weighed by: calls (default), or time: from a call to the thread's next one"),
    OPTION_FRACTION(
        "burst", 0, "MS", 0.1, 1e9, struct calls_values, options.burst,
        "count in bursts of so many milliseconds; between them the program runs as without hooks"),
    OPTION_FRACTION("interval", 0, "MS", 0.2, 1e9, struct calls_values, options.interval,
                    "with --burst: from one burst's start to the next's"),
    OPTION_FRACTION("phases", 0, "MS", 100, 1e12, struct calls_values, options.phase_interval,
                    "count in some intervals of each phase, of MS milliseconds of CPU time, and scale that "
                    "to the whole run; between them the program runs as without hooks"),
    OPTION_OWN("phases-policy", 0, "WHICH[:N]", take_policy,
               "with --phases: which intervals, as of fathom record (default: third)"),
    OPTION_FLAG("adaptive", 0, struct calls_values, options.adaptive,
                "with --burst: mostly omit bursts in contexts in which one began before"),
    OPTION_FRACTION("re-enable", 0, "PERCENT", 0, 100, struct calls_values, options.re_enable,
                    "with --adaptive: so many of those are not omitted, and count for all (default: 10)"),
    OPTION_FRACTION("every", 0, "S", 0.1, 1e9, struct calls_values, every,
                    "also print what there is every S seconds"),
    OPTION_FRACTION("duration", 0, "S", 0.001, 1e9, struct calls_values, options.duration,
                    "end the command after S seconds"),
    OPTION_TEXT("output", 'o', "TREE", struct calls_values, options.output,
                "also save the tree, for 'fathom hcct show' and 'compare'"),
    OPTION_IMAGES(struct calls_values, images,
                  "hook only files whose names start with one of these (default: all but the C library and "
                  "the loader)"),
    OPTION_TABLE("view", 0, "VIEW", fathom_views, struct fathom_word, struct calls_values, view, ""),
    OPTION_CHOICE("format", 0, "FORMAT", formats, enum fathom_calls_format, struct calls_values,
                  listing.format, "text, or folded (for flame graphs)"),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct calls_values, listing.min_percent,
                    "omit rows that weigh less (default: 0.5)"),
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct calls_values, rows, "only the N hottest contexts"),
    OPTION_WIDE(struct calls_values),
    OPTION_COLOUR(struct calls_values),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command calls_command = {
    .name = "calls",
    .summary = "count all calls of a command by their contexts",
    .synopsis = "[OPTIONS] [--] COMMAND [ARG...]",
    .about = "Runs a command with hooks in its functions, as 'fathom train' does, counts every call under "
             "its full call path in bounded memory, and prints the hot contexts at the end.",
    .options = rows,
    .notes = "If nothing fails, the exit code is the command's own; see fathom-calls(1).",
    .run = calls_run,
};
