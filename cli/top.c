/* top.c - `fathom top`: shows hot contexts while they run, or those of a store's recent batches, on a terminal or as text. */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/share.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "cli/shared_rows.h"
#include "cli/target.h"
#include "cli/top/screen.h"
#include "cli/top/text.h"

#define FIRST_NS       500000000u   /* delay of the first picture */
#define BEHIND_NS      10000000000u /* maximum extra delay of a picture while samples are delayed */
#define KEYS_MS        100          /* timeout for a key once the target has ended */
#define INTERVAL       1            /* seconds between two pictures, */
#define STORE_INTERVAL 10           /* of a store */
#define SINCE          "15m"        /* of a store, as its agents send a slot when it is over */

struct top_options {
    struct fathom_top_options top; /* first, as rows of options have offsets in either struct */
    struct fathom_store_selection store;
    double interval; /* seconds between two pictures; 0: not given */
    uint64_t count;  /* number of pictures as text; 0: a screen */
    bool once;
    struct fathom_top_show show;
    uint64_t most; /* maximum rows of text */
};

struct top {
    const struct top_options *options;
    struct fathom_top *top;
    struct screen *screen; /* NULL: text */
    struct top_state state;
    struct fathom_top_rows rows;
    FILE *out;               /* of text */
    uint64_t began, drawn;   /* ns; drawn: when rows were last made */
    uint64_t pictures;       /* pictures as text so far */
    uint64_t samples_before; /* number of samples at `drawn` */
    double rate;             /* samples per second */
    bool ended;
};

static const struct option_word views[] = {{"tree", FATHOM_TOP_TREE},
                                           [FATHOM_TOP_CALLERS] = {"callers", FATHOM_TOP_CALLERS},
                                           [FATHOM_TOP_FLAT] = {"flat", FATHOM_TOP_FLAT},
                                           [FATHOM_TOP_VIEWS] = {0}};
static const struct option_word sorts[] = {{"total", FATHOM_TOP_BY_TOTAL},
                                           [FATHOM_TOP_BY_SELF] = {"self", FATHOM_TOP_BY_SELF},
                                           [FATHOM_TOP_BY_NAME] = {"name", FATHOM_TOP_BY_NAME},
                                           [FATHOM_TOP_SORTS] = {0}};

/* Status ------------------------------------------------------------------------------------------------------ */

static double resident_mb(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%*u %lu", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* Describes what is observed. */
static void name_target(const struct top *t, char *out, size_t size)
{
    const struct fathom_target *target = &t->options->top.target;
    const struct fathom_pids *ids = target->pids.count ? &target->pids : &target->tids;
    if (target->everyone)
        snprintf(out, size, "all processes");
    else if (target->cgroup || target->container)
        snprintf(out, size, "%s %.60s", target->cgroup ? "cgroup" : "container",
                 target->cgroup ? target->cgroup : target->container);
    else if (target->user.given)
        snprintf(out, size, "user %u", (unsigned)target->user.id);
    else if (target->command)
        snprintf(out, size, "%.60s", target->command[0]);
    else if (ids->count == 1)
        snprintf(out, size, "%s %d", target->pids.count ? "process" : "thread", (int)ids->pids[0]);
    else
        snprintf(out, size, "%zu %s", ids->count, target->pids.count ? "processes" : "threads");
    text_clean(out);
}

static void name_what(struct top *t, const struct fathom_top_summary *o, char *out)
{
    char name[80], event[64];
    snprintf(event, sizeof event, "%.60s", o->event);
    text_clean(event);
    if (o->stored) {
        snprintf(out, TOP_LINE, "%.150s, %s: %llu samples", o->stored, event, (unsigned long long)o->samples);
        return;
    }
    name_target(t, name, sizeof name);
    snprintf(out, TOP_LINE, "%s, %s: %.0f s%s, %.0f samples/s, %llu samples", name, event,
             (double)(clock_ns() - t->began) / 1e9,
             t->ended    ? " (ended)"
             : o->behind ? " (behind: opening files)"
                         : "",
             t->rate, (unsigned long long)o->samples);
}

/* Describes what was learned and lost, or that the store does not answer. */
static void describe_state(const struct fathom_top_summary *o, char *out, size_t size)
{
    char lost[96] = "";
    if (o->stored) {
        snprintf(out, size, "%s%.160s", o->failure ? "; not read again: " : "", o->failure ? o->failure : "");
        text_clean(out);
        return;
    }
    if (o->lost_now || o->throttled || o->unread)
        snprintf(lost, sizeof lost, "; %llu lost, %llu throttled, %llu stacks not read",
                 (unsigned long long)o->lost, (unsigned long long)o->throttled,
                 (unsigned long long)o->unread);
    snprintf(out, size, "; learned %llu stack%s%s%s%s; %.0f MB", (unsigned long long)o->stacks,
             o->stacks == 1 ? "" : "s", o->full ? ", no more fit" : "", lost,
             o->scripts_apart ? "; scripts read between samples" : "", resident_mb());
}

static void make_status(struct top *t)
{
    struct top_state *s = &t->state;
    struct fathom_top_summary o;
    char proved[SHARE_SIZE], inferred[SHARE_SIZE], unknown[SHARE_SIZE], state[192];
    fathom_top_summary(t->top, &o);
    name_what(t, &o, s->status[0]);
    describe_state(&o, state, sizeof state);
    snprintf(s->status[1], TOP_LINE, "paths: %s proved, %s inferred, %s unknown%s",
             share_format(proved, o.proved, o.weight), share_format(inferred, o.inferred, o.weight),
             share_format(unknown, o.weight - o.proved - o.inferred, o.weight), state);
    char thread[96] = "", filter[96] = "", period[48] = "", rest[48] = "", share[SHARE_SIZE];
    if (s->show.thread != FATHOM_TOP_ALL)
        snprintf(thread, sizeof thread, ", only %.64s", s->thread_name);
    if (*s->filter)
        snprintf(filter, sizeof filter, ", filter \"%s\"", s->filter);
    if (t->options->top.decay > 0)
        snprintf(period, sizeof period, ", the last %g to %g s", t->options->top.decay,
                 2 * t->options->top.decay);
    if (t->rows.rest)
        snprintf(rest, sizeof rest, "; %s in light contexts",
                 share_format(share, t->rows.rest, t->rows.whole));
    snprintf(s->status[2], TOP_LINE, "%s%s by %s, from %g%%%s%s%s%s%s", s->paused ? "PAUSED: " : "",
             views[s->show.view].word, sorts[top_sort(s)].word, s->show.min_percent, period,
             s->show.threads ? ", threads" : "", thread, filter, rest);
    text_clean(s->status[2]);
}

/* Pictures ---------------------------------------------------------------------------------------------------- */

static bool is_folded(void *folded, uint64_t key)
{
    return table_find(folded, key);
}

static int make_rows(struct top *t, struct fathom_error *err)
{
    struct fathom_top_show show = t->state.show;
    show.sort = top_sort(&t->state);
    return fathom_top_rows(t->top, &show, &t->rows, err);
}

static void measure_rate(struct top *t, uint64_t now)
{
    struct fathom_top_summary o;
    fathom_top_summary(t->top, &o);
    double seconds = (double)(now - (t->drawn ? t->drawn : t->began)) / 1e9;
    if (seconds > 0.2)
        t->rate = (double)(o.samples - t->samples_before) / seconds;
    t->samples_before = o.samples;
    t->drawn = now;
}

static int draw_picture(struct top *t, bool again, struct fathom_error *err)
{
    int rc = t->state.paused && !again ? 0 : make_rows(t, err);
    make_status(t);
    if (rc == 0 && t->screen)
        screen_draw(t->screen, &t->state, &t->rows);
    else if (rc == 0)
        rc = top_text_write(&t->state, &t->rows, t->options->most, t->out, err);
    return rc;
}

/* -ECANCELED: the user wants to quit. */
static int take_keys(struct top *t, int wait_ms, struct fathom_error *err)
{
    enum screen_wish wish = screen_keys(t->screen, &t->state, &t->rows, wait_ms);
    if (wish == SCREEN_QUIT)
        return -ECANCELED;
    if (wish == SCREEN_CLEAR) {
        int rc = fathom_top_clear(t->top, err);
        if (rc < 0)
            return rc;
        t->began = clock_ns();
        t->drawn = t->samples_before = 0;
    }
    return wish == SCREEN_NOTHING ? 0 : draw_picture(t, true, err);
}

static bool is_behind(const struct top *t)
{
    struct fathom_top_summary summary;
    fathom_top_summary(t->top, &summary);
    return summary.behind;
}

/* Called at least 10 times a second. */
static int show_progress(void *context, struct fathom_error *err)
{
    struct top *t = context;
    uint64_t now = clock_ns(), pause = (uint64_t)(t->options->interval * 1e9);
    int rc = t->screen ? take_keys(t, 0, err) : 0;
    if (!t->drawn && t->options->store.url)
        pause = 0;
    else if (!t->drawn && t->screen && pause > FIRST_NS)
        pause = FIRST_NS;
    const uint64_t passed = now - (t->drawn ? t->drawn : t->began);
    if (rc < 0 || passed < pause || (!t->screen && passed < pause + BEHIND_NS && is_behind(t)))
        return rc;
    measure_rate(t, now);
    rc = draw_picture(t, false, err);
    t->pictures += !t->screen;
    return rc == 0 && !t->screen && t->pictures >= t->options->count ? -ECANCELED : rc;
}

/* After the end of the target: keeps its last picture until the user quits. */
static int keep_last(struct top *t, struct fathom_error *err)
{
    t->ended = true;
    int rc = draw_picture(t, true, err);
    while (rc == 0 && t->screen)
        rc = take_keys(t, KEYS_MS, err);
    return rc;
}

INTERRUPT_BY(stop_top, fathom_top_stop)

static int observe_target(struct top *t, struct terminal *terminal, struct fathom_error *err)
{
    struct fathom_top_options options = t->options->top;
    struct fathom_top_summary summary;
    struct interrupts before;
    options.progress = show_progress;
    options.context = t;
    int rc = fathom_top_open(&options, &terminal->listener, &t->top, err);
    if (rc < 0)
        return rc;
    if (!options.store)
        privilege_only_observe(&(struct privilege_observing){.launched = options.target.command}, terminal);
    t->began = clock_ns();
    interrupt_catch(stop_top, t->top, &before);
    rc = fathom_top_run(t->top, err);
    interrupt_restore(&before);
    fathom_top_summary(t->top, &summary);
    if (rc == 0 && (summary.ended || !t->screen))
        rc = keep_last(t, err);
    return rc == -ECANCELED ? 0 : rc;
}

/* Redirects the observed command's output to standard error. */
static int open_text(struct top *t, struct fathom_error *err)
{
    int fd = dup(STDOUT_FILENO);
    fflush(stdout);
    t->out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!t->out || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return error_system(err, errno, "cannot set up the output");
    return 0;
}

static int run_top(const struct top_options *o, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct fathom_top_summary summary = {.status = -1};
    struct top t = {.options = o, .state = {.show = o->show, .folded = table_new()}};
    struct fathom_top_show *show = &t.state.show;
    snprintf(t.state.filter, sizeof t.state.filter, "%s", show->filter);
    show->filter = t.state.filter;
    show->is_folded = is_folded;
    show->context = t.state.folded;
    int rc = o->count ? open_text(&t, &err) : screen_open(&t.screen, &err);
    if (rc == 0)
        rc = t.state.folded ? observe_target(&t, terminal, &err) : error_memory(&err);
    screen_close(t.screen);
    if (t.top)
        fathom_top_summary(t.top, &summary);
    int code = exit_result(terminal, rc, &err);
    fathom_top_close(t.top);
    table_free(t.state.folded);
    if (t.out)
        fclose(t.out);
    return rc == 0 && t.ended && summary.status >= 0 ? exit_code_of_status(summary.status) : code;
}

/* With --store, nothing is sampled on this machine. -1, or the exit code. */
static int complete_store(struct top_options *o, int argc, struct terminal *terminal)
{
    const struct fathom_target *target = &o->top.target;
    int code = store_rows_check(&o->store, terminal);
    if (code < 0 && (optind < argc || target->pids.count || target->tids.count ||
                     fathom_target_wide(target) || target->frequency || target->period || o->top.map ||
                     o->top.decay > 0 || o->top.off_cpu || o->top.wall || o->show.threads))
        code = option_usage(terminal,
                            "--store shows what others have sampled: give no command or process, and none of "
                            "--frequency, --period, --off-cpu, --wall, --map, --decay, --threads");
    if (!o->store.since)
        o->store.since = SINCE;
    o->top.store = &o->store;
    return code;
}

static int top_run(int argc, char **argv, struct terminal *terminal)
{
    struct top_options options = {
        .top = {.target.verify = fathom_verify_default, .eps = 2e-5},
        .show = {.sort = FATHOM_TOP_SORTS, .min_percent = 1, .filter = "", .thread = FATHOM_TOP_ALL}};
    int code = options_parse(&top_command, &options, false, argc, argv, terminal);
    if (code < 0 && options.store.url)
        code = complete_store(&options, argc, terminal);
    else if (code < 0 && (code = store_rows_check(&options.store, terminal)) < 0)
        code = target_complete(&options.top.target, argc, argv, terminal);
    if (!(options.interval > 0))
        options.interval = options.store.url ? STORE_INTERVAL : INTERVAL;
    if (options.once && !options.count)
        options.count = 1;
    if (code < 0 && !options.count && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
        code = option_usage(terminal, "standard input and output are no terminal: give --once or --count");
    if (code < 0)
        code = run_top(&options, terminal);
    target_free(&options.top.target);
    return code;
}

_Static_assert(offsetof(struct top_options, top) == 0, "rows have offsets in either struct");
static const struct option_row rows[] = {
    TARGET_PID(struct fathom_top_options, "attach to these processes, their threads and their children"),
    TARGET_EVERYONE(struct fathom_top_options, "all processes of the machine"),
    TARGET_CGROUP(struct fathom_top_options),
    TARGET_CONTAINER(struct fathom_top_options),
    TARGET_UID(struct fathom_top_options),
    TARGET_NO_CHILDREN(struct fathom_top_options),
    TARGET_TID(struct fathom_top_options, "attach to these threads only"),
    STORE_SELECTION(struct top_options, store),
    TARGET_EVENT(struct fathom_top_options, "what to sample, as for record (default: cycles, or cpu-clock)"),
    TARGET_FREQUENCY(struct fathom_top_options, "samples per second (default for clocks: 1000)"),
    TARGET_PERIOD(struct fathom_top_options, "one sample every N events (clocks: nanoseconds)"),
    TARGET_FIELDS(struct fathom_top_options, "event-filter"),
    TARGET_DUMPS(struct fathom_top_options),
    OPTION_FLAG("off-cpu", 0, struct fathom_top_options, off_cpu,
                "show where threads wait, for how long and why, as of record"),
    OPTION_FLAG("wall", 0, struct fathom_top_options, wall,
                "show all of the time that threads live, with a CPU and without"),
    OPTION_TEXT("map", 'm', "MAP", struct fathom_top_options, map, "a path map from 'fathom train'"),
    OPTION_FLAG("once", 0, struct top_options, once,
                "print one picture as text after the first interval, and exit"),
    OPTION_FRACTION("interval", 0, "S", 0.1, 86400, struct top_options, interval,
                    "seconds between two pictures (default: 1; with --store, 10)"),
    OPTION_NUMBER("count", 0, "N", 1, UINT32_MAX, struct top_options, count,
                  "print N pictures as text, and exit"),
    OPTION_CHOICE("view", 0, "VIEW", views, enum fathom_top_view, struct top_options, show.view,
                  "tree (default), callers or flat"),
    OPTION_CHOICE("sort", 0, "BY", sorts, enum fathom_top_sort, struct top_options, show.sort,
                  "total, self or name (default: total, in view flat self)"),
    OPTION_TEXT("filter", 0, "TEXT", struct top_options, show.filter,
                "only contexts with a function whose name contains this"),
    OPTION_FRACTION("min", 0, "PERCENT", 0, 100, struct top_options, show.min_percent,
                    "leave out rows that weigh less (default: 1)"),
    OPTION_FLAG("threads", 0, struct top_options, show.threads, "show each thread as a separate root"),
    OPTION_FRACTION("decay", 0, "S", 0.1, 86400, struct fathom_top_options, decay,
                    "show the last one to two times S seconds only (default: all since the start)"),
    OPTION_FRACTION("eps", 0, "E", 1e-6, 0.1, struct fathom_top_options, eps,
                    "the error allowed in a context's share, which sets the memory (default: 0.00002)"),
    OPTION_NUMBER("rows", 'n', "N", 1, UINT32_MAX, struct top_options, most,
                  "in text, only the first N rows"),
    TARGET_DURATION(struct fathom_top_options, "stop after S seconds (and terminate a launched command)"),
    OPTION_QUIET("print no notes"),
    OPTION_VERBOSE("print more details"),
    OPTION_HELP,
    OPTION_END,
};

const struct command top_command = {
    .name = "top",
    .summary = "show hot calling contexts while a program runs",
    .synopsis = "[OPTIONS] -p PID[,PID...]\n"
                "[OPTIONS] -t TID[,TID...]\n"
                "[OPTIONS] -a | --cgroup PATH | --container ID | --uid USER\n"
                "[OPTIONS] -- COMMAND [ARG...]\n"
                "[OPTIONS] --store STORE",
    .about = "Samples a command or running processes as 'fathom record' does, finds each sample's call path "
             "at once, and "
             "shows the hot contexts in the terminal, or as text. Memory is bounded however long it runs.",
    .options = rows,
    .notes = "Keys are shown on the screen; see fathom-top(1).",
    .run = top_run,
};
