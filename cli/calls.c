/* calls.c - `fathom calls`: counts all calls of a command by their contexts, in bounded memory. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "cli/exit.h"
#include "api/hooks/hooked.h"
#include "api/hooks/hooks.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "hcct/saved_tree.h"
#include "pathmap/map/pathmap.h"
#include "profile/counted.h"
#include "report/text/weight.h"
#include "report/views/view.h"

#define PATHS_EACH  4.0 /* for each 1/eps: a context has several, by its call sites */
#define LEAST_NODES 4096u
#define DELTA       0.01 /* the probability that Sticky Sampling fails */
#define RE_ENABLE   10.0 /* percent: one of the ratios of the HCCT paper's figure 13 */

#define ONCE_IN_MOST 1e6

enum calls_counter { CALLS_PURGE, CALLS_EXACT, CALLS_LSS, CALLS_BSS, CALLS_LC, CALLS_STICKY };
enum calls_metric { CALLS_NUMBER, CALLS_TIME };
enum calls_format { CALLS_TEXT, CALLS_FOLDED };

struct calls_options {
    enum calls_counter counter;
    enum calls_metric metric;
    enum calls_format format;
    double phi, eps;                   /* eps 0: phi / 5 */
    double every;                      /* seconds; 0: at the end only */
    double burst, interval;            /* ms; 0: all the time */
    uint64_t burst_calls, check_calls; /* 0: not by numbers of calls */
    bool adaptive;
    double re_enable; /* percent */
    double duration;
    uint64_t rows;
    struct option_images images;
    struct view_options view;
    enum colour_when colour;
    bool wide;
    const char *output; /* NULL: none */
    char *const *command;
};

struct calls {
    const struct calls_options *options;
    struct terminal *terminal;
    struct host host;
    struct hooked hooks;
    struct image_cache *images;
    struct outfile *out;         /* the saved tree; NULL: none */
    uint64_t began, began_ticks; /* ns; the time-stamp counter */
    uint64_t printed;            /* when, ns */
};

static enum record_counter counter_of(const struct calls_options *o)
{
    switch (o->counter) {
    case CALLS_LSS:
        return RECORD_LSS;
    case CALLS_BSS:
        return RECORD_BSS;
    case CALLS_LC:
        return RECORD_LC;
    case CALLS_STICKY:
        return RECORD_STICKY;
    default:
        return RECORD_PURGE;
    }
}

/* Of a thread's tree; a counter's error is then at most eps / PATHS_EACH at each path by its call sites. */
static uint32_t counters(const struct calls_options *o)
{
    return (uint32_t)fmin(ceil(PATHS_EACH / o->eps), UINT32_MAX);
}

static uint32_t node_limit(const struct calls_options *o)
{
    uint32_t nodes = counters(o);
    if (o->counter == CALLS_EXACT)
        return 0;
    return nodes < LEAST_NODES ? LEAST_NODES : nodes;
}

/* As in struct recording. */
static uint32_t once_in(const struct calls_options *o)
{
    if (!o->adaptive)
        return 0;
    return o->re_enable > 0 ? (uint32_t)fmin(round(100 / o->re_enable), ONCE_IN_MOST) : UINT32_MAX;
}

static bool is_space_saving(const struct calls_options *o)
{
    return o->counter == CALLS_LSS || o->counter == CALLS_BSS;
}

/* "0.0022" or "100". */
static const char *percent_format(char text[32], double percent)
{
    snprintf(text, 32, percent < 10 ? "%.2g" : "%.0f", percent);
    return text;
}

/* How far weights may be from the true ones. */
static void print_error(const struct calls *c, const struct harvest *h)
{
    const struct calls_options *o = c->options;
    char whole[32], most[32];
    double all = (double)h->calls + (double)h->purged;
    double bound = 100 * (o->counter == CALLS_STICKY ? o->eps / PATHS_EACH
                          : all > 0                  ? (double)h->bound / all
                                                     : 0);
    if (is_space_saving(o) && h->bound)
        printf("error:    at most %s%% of the weight at each path by its call sites is not its own%s\n",
               percent_format(most, bound), h->threads > 1 ? ", or is missing there" : "");
    if (h->purged)
        printf("forgotten: %s%% of the weight; at most %s%% of each path by its call sites%s\n",
               percent_format(whole, 100 * (double)h->purged / all), percent_format(most, bound),
               o->counter == CALLS_STICKY ? ", with a probability of 99%" : "");
}

static void print_heading(const struct calls *c, const struct harvest *h, const struct counted *counted)
{
    const struct calls_options *o = c->options;
    char weight[WEIGHT_SIZE];
    bool time = o->metric == CALLS_TIME;
    weight_format(weight, counted_weight(counted), time ? WEIGHT_NS : "calls");
    printf("calls:    %s%s in %llu process%s, %llu thread%s; %zu %scontext%s", weight,
           time ? " between calls" : " calls", (unsigned long long)h->stores, h->stores == 1 ? "" : "es",
           (unsigned long long)h->threads, h->threads == 1 ? "" : "s", counted_hot(counted),
           o->counter == CALLS_EXACT ? "" : "hot ", counted_hot(counted) == 1 ? "" : "s");
    if (o->counter != CALLS_EXACT)
        printf(" of %g%% or more", 100 * o->phi);
    printf("\n");
    print_error(c, h);
    if ((o->burst > 0 || o->burst_calls) && !h->bursts)
        printf("bursts:   none has ended: the calls are those of the start alone\n");
    else if (o->burst > 0)
        printf("bursts:   %llu, of %.3g ms each on average; only calls in bursts are counted\n",
               (unsigned long long)h->bursts, (double)h->burst_ns / (double)h->bursts / 1e6);
    else if (o->burst_calls)
        printf("bursts:   %llu, one of %llu calls after %llu checks, or the time that these may take; only "
               "calls in "
               "bursts are counted\n",
               (unsigned long long)h->bursts, (unsigned long long)o->burst_calls,
               (unsigned long long)o->check_calls);
    if (o->adaptive)
        printf("omitted:  %llu bursts in contexts known from others, or without calls\n",
               (unsigned long long)h->bursts_omitted);
    printf("\n");
}

static int print_counted(const struct calls *c, const struct harvest *h, const struct counted *counted,
                         struct fathom_error *err)
{
    const struct calls_options *o = c->options;
    struct contexts contexts;
    counted_contexts(counted, &contexts);
    pager_start(c->terminal);
    if (o->format == CALLS_FOLDED)
        return folded_write(&contexts, stdout, err);
    struct view_options view = o->view;
    view.unit = o->metric == CALLS_TIME ? WEIGHT_NS : "calls";
    view.max_rows = (unsigned)o->rows;
    view.colour = terminal_colour(o->colour, stdout);
    view.width = o->wide ? 0 : terminal_width(stdout);
    view.verbose = c->terminal->verbose;
    print_heading(c, h, counted);
    return view_write(&contexts, &view, stdout, err);
}

/* ns for each tick, by what passed since the start. */
static double tick_of(const struct calls *c)
{
    uint64_t ticks = __rdtsc() - c->began_ticks;
    return ticks ? (double)(clock_ns() - c->began) / (double)ticks : 0;
}

static int save(const struct calls *c, const struct counted *counted, const struct harvest *h,
                struct fathom_error *err)
{
    struct contexts contexts;
    counted_contexts(counted, &contexts);
    uint32_t count = frames_count(contexts.frames);
    struct trace_function *functions = malloc((count + 1) * sizeof *functions);
    int fd, rc = functions ? outfile_begin(c->out, &fd, err) : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const struct frame *f = frames_at(contexts.frames, i);
        functions[i] = (struct trace_function){f->image, f->name, f->address};
    }
    uint64_t bound = h->purged + (is_space_saving(c->options) ? h->bound : 0);
    struct saved_tree tree = {
        .tree = contexts.tree,
        .functions = functions,
        .function_count = count,
        .unit = metrics_unit(contexts.metrics, 0),
        .command = c->options->command[0],
        .bound = c->options->metric == CALLS_TIME ? (uint64_t)((double)bound * tick_of(c)) : bound};
    if (rc == 0)
        rc = saved_tree_write(&tree, fd, outfile_path(c->out), err);
    if (rc == 0)
        rc = outfile_publish(c->out, false, err);
    free(functions);
    return rc;
}

/* How much less than it has a path may be told to have, or weigh without being there. */
static uint64_t bound_of(const struct calls_options *o, const struct harvest *h)
{
    if (o->counter == CALLS_STICKY)
        return (uint64_t)(o->eps / PATHS_EACH * ((double)h->calls + (double)h->purged));
    return h->bound;
}

/* Reads the stores as they are now, and prints them. last: the command has ended. */
static int print_now(const struct calls *c, bool last, struct fathom_error *err)
{
    const struct calls_options *o = c->options;
    struct harvest h = {.own = true};
    struct trie *trie = trie_new();
    struct pathmap *map = NULL;
    struct counted *counted = NULL;
    double tick = tick_of(c);
    int rc = trie ? harvest_directory(&h, trie, c->images, session_directory(c->hooks.session),
                                      last ? &c->terminal->log : NULL, err)
                  : error_memory(err);
    if (rc == 0 && last)
        hooks_say(&c->host, &h, c->hooks.session, o->images.count > 0);
    if (rc == 0 && h.calls + h.purged == 0 && last)
        rc = hooks_none(o->command[0], session_notes(c->hooks.session), o->images.count > 0, err);
    if (rc == 0)
        rc = pathmap_over(trie, &map, err);
    struct counted_options counting = {.time = o->metric == CALLS_TIME,
                                       .tick = tick,
                                       .bound = bound_of(c->options, &h),
                                       .lost = h.purged,
                                       .phi = o->counter == CALLS_EXACT ? 0 : o->phi};
    if (rc == 0)
        rc = counted_new(map, c->images, &counting, &counted, err);
    if (rc == 0)
        rc = print_counted(c, &h, counted, err);
    if (rc == 0 && last && c->out)
        rc = save(c, counted, &h, err);
    if (rc == 0 && last)
        hooks_say_losses(&c->host, &h, session_directory(c->hooks.session));
    counted_free(counted);
    pathmap_close(map);
    trie_free(trie);
    harvest_free(&h);
    return rc;
}

/* --every: what fails now is told at the end. */
static void print_sometimes(void *context)
{
    struct calls *c = context;
    uint64_t now = clock_ns();
    if ((double)(now - c->printed) < c->options->every * 1e9)
        return;
    if (c->options->format == CALLS_TEXT)
        printf("after %.1f s:\n", (double)(now - c->began) / 1e9);
    print_now(c, false, NULL);
    putchar('\n');
    fflush(stdout);
    c->printed = clock_ns();
}

static void stop(void *hooks)
{
    ((struct hooked *)hooks)->stop = 1;
}

static int run(struct calls *c, struct fathom_error *err)
{
    struct hooked_serving serving = {.duration = c->options->duration,
                                     .poll = c->options->every > 0 ? print_sometimes : NULL,
                                     .context = c};
    struct interrupted_run run;
    c->began = c->printed = clock_ns();
    c->began_ticks = __rdtsc();
    interrupt_hold(&run);
    int rc = hooked_start(&c->hooks, c->options->command, NULL, err);
    interrupt_begin(&run, stop, &c->hooks);
    if (rc == 0)
        hooked_serve(&c->hooks, &serving, 0);
    interrupt_end(&run);
    if (rc < 0)
        return rc;
    hooks_say_unhooked(&c->host, session_notes(c->hooks.session));
    return print_now(c, true, err);
}

static int count_calls(const struct calls_options *o, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct image_options image_options = {.log = &terminal->log};
    struct calls c = {.options = o, .terminal = terminal, .images = image_cache_new(&image_options)};
    struct session_options session_options = {
        .names = o->images.at,
        .name_count = o->images.count,
        .no_map = true,
        .recording = {.weigh_ticks = o->metric == CALLS_TIME,
                      .node_limit = node_limit(o),
                      .counter = counter_of(o),
                      .counters = counters(o),
                      .sticky_t = (uint64_t)(PATHS_EACH * log(1 / (o->phi * DELTA)) / o->eps),
                      .once_in = once_in(o),
                      .burst_calls = o->burst_calls,
                      .check_calls = o->check_calls,
                      .burst_ns = (uint64_t)(o->burst * 1e6),
                      .interval_ns = (uint64_t)(o->interval * 1e6)},
        .images = c.images,
        .log = &terminal->log};
    host_init(&c.host, &terminal->listener);
    int rc = o->output ? output_open(o->output, &c.out, &err) : 0;
    if (rc == 0)
        rc = c.images ? hooked_open(&c.hooks, &session_options, getenv("FATHOM_PROBE_LIBRARY"), &c.host, &err)
                      : error_memory(&err);
    if (rc == 0)
        rc = run(&c, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    int status = c.hooks.status;
    hooked_close(&c.hooks);
    image_cache_free(c.images);
    outfile_close(c.out);
    if (rc < 0)
        return exit_code_of(&err);
    return status >= 0 ? exit_code_of_status(status) : EXIT_OK;
}

static int calls_run(int argc, char **argv, struct terminal *terminal)
{
    struct calls_options options = {.phi = 1e-4,
                                    .re_enable = -1,
                                    .view = {.view = &view_table[0], .min_percent = 0.5, .show_image = true}};
    int code = options_parse(&calls_command, &options, false, argc, argv, terminal);
    if (code < 0 && optind == argc)
        code = option_usage(terminal, &calls_command, "give a command to run");
    if (code < 0 && options.view.view->accesses)
        code = option_usage(terminal, &calls_command, "--view %s is of recordings: calls access no data",
                            options.view.view->name);
    if (code < 0 && options.eps >= options.phi)
        code = option_usage(terminal, &calls_command, "--eps must be below --phi");
    if (code < 0 && options.burst > 0 && options.interval <= options.burst)
        code = option_usage(terminal, &calls_command, "--interval must be longer than --burst");
    if (code < 0 && options.counter == CALLS_STICKY && options.metric == CALLS_TIME)
        code = option_usage(terminal, &calls_command, "--counter sticky counts calls, not time");
    if (code < 0 && options.counter == CALLS_STICKY && options.adaptive)
        code = option_usage(terminal, &calls_command,
                            "--counter sticky counts calls one by one, and --adaptive some for many");
    if (code < 0 && options.interval > 0 && !(options.burst > 0))
        code = option_usage(terminal, &calls_command, "--interval needs --burst");
    if (code < 0 && !options.burst_calls != !options.check_calls)
        code = option_usage(terminal, &calls_command, "--burst-calls and --check-calls go together");
    if (code < 0 && options.burst > 0 && options.burst_calls)
        code = option_usage(terminal, &calls_command, "--burst and --burst-calls exclude each other");
    if (code < 0 && options.adaptive && !(options.burst > 0))
        code = option_usage(terminal, &calls_command, "--adaptive needs --burst");
    if (code < 0 && options.re_enable >= 0 && !options.adaptive)
        code = option_usage(terminal, &calls_command, "--re-enable needs --adaptive");
    if (options.re_enable < 0)
        options.re_enable = RE_ENABLE;
    if (options.eps <= 0)
        options.eps = options.phi / 5; /* as in the HCCT paper, section 5.2 */
    options.command = argv + optind;
    if (code < 0)
        code = count_calls(&options, terminal);
    free((void *)(uintptr_t)options.images.at);
    return code;
}

static const struct option_word kinds[] = {{"purge", CALLS_PURGE},
                                           {"exact", CALLS_EXACT},
                                           {"lss", CALLS_LSS},
                                           {"bss", CALLS_BSS},
                                           {"lc", CALLS_LC},
                                           {"sticky", CALLS_STICKY},
                                           {0}};
static const struct option_word metrics[] = {{"calls", CALLS_NUMBER}, {"time", CALLS_TIME}, {0}};
static const struct option_word formats[] = {{"text", CALLS_TEXT}, {"folded", CALLS_FOLDED}, {0}};

static const struct option_row rows[] = {
    OPTION_CHOICE(
        "counter", 0, "KIND", kinds, enum calls_counter, struct calls_options, counter,
        "hot contexts in bounded memory: purge (default), lss, bss, lc or sticky; all contexts: exact"),
    OPTION_FRACTION("phi", 0, "P", 1e-9, 0.999, struct calls_options, phi,
                    "but with exact: contexts with this part of the weight or more (default: 0.0001)"),
    OPTION_FRACTION("eps", 0, "E", 1e-9, 0.999, struct calls_options, eps,
                    "but with exact: the error to aim at, which sets the memory (default: a fifth of phi)"),
    OPTION_CHOICE(
        "metric", 0, "NAME", metrics, enum calls_metric, struct calls_options, metric,
        "what contexts are weighed by: calls (default), or time: from a call to the thread's next one"),
    OPTION_FRACTION(
        "burst", 0, "MS", 0.1, 1e9, struct calls_options, burst,
        "count in bursts of so many milliseconds; between them the program runs as without hooks"),
    OPTION_FRACTION("interval", 0, "MS", 0.2, 1e9, struct calls_options, interval,
                    "with --burst: from one burst's start to the next's"),
    OPTION_NUMBER(
        "burst-calls", 0, "N", 1, INT64_MAX, struct calls_options, burst_calls,
        "count in bursts of N calls; between them only some functions have hooks, which count checks"),
    OPTION_NUMBER("check-calls", 0, "N", 1, INT64_MAX, struct calls_options, check_calls,
                  "with --burst-calls: after so many checks the next burst begins"),
    OPTION_FLAG("adaptive", 0, struct calls_options, adaptive,
                "with --burst: mostly omit bursts in contexts in which one began before"),
    OPTION_FRACTION("re-enable", 0, "PERCENT", 0, 100, struct calls_options, re_enable,
                    "with --adaptive: so many of those are not omitted, and count for all (default: 10)"),
    OPTION_FRACTION("every", 0, "S", 0.1, 1e9, struct calls_options, every,
                    "also print what there is every S seconds"),
    OPTION_FRACTION("duration", 0, "S", 0.001, 1e9, struct calls_options, duration,
                    "end the command after S seconds"),
    OPTION_TEXT("output", 'o', "TREE", struct calls_options, output,
                "also save the tree, for 'fathom hcct show' and 'compare'"),
    OPTION_IMAGES(struct calls_options, images,
                  "hook only files whose names start with one of these (default: all but the C library and "
                  "the loader)"),
    OPTION_TABLE("view", 0, "VIEW", view_table, struct view, struct calls_options, view.view, ""),
    OPTION_CHOICE("format", 0, "FORMAT", formats, enum calls_format, struct calls_options, format,
                  "text, or folded (for flame graphs)"),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct calls_options, view.min_percent,
                    "omit rows that weigh less (default: 0.5)"),
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct calls_options, rows, "only the N hottest contexts"),
    OPTION_WIDE(struct calls_options),
    OPTION_COLOUR(struct calls_options),
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
             "its full call "
             "path in bounded memory, and prints the hot contexts at the end.",
    .options = rows,
    .notes = "If nothing fails, the exit code is the command's own; see fathom-calls(1).",
    .run = calls_run,
};
