/* calls.c - counts all calls of a command by their contexts, in bounded memory. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "api/fathom/calls.h"
#include "api/hooks/hooked.h"
#include "api/hooks/hooks.h"
#include "api/hooks/phased.h"
#include "api/report/options.h"
#include "base/clock.h"
#include "base/outfile.h"
#include "hcct/saved_tree.h"
#include "pathmap/map/pathmap.h"
#include "profile/counted.h"
#include "report/text/weight.h"
#include "report/views/view.h"

#define PATHS_EACH  4.0 /* for each 1/eps: a context has several, by its call sites */
#define LEAST_NODES 4096u
#define DELTA       0.01 /* the probability that Sticky Sampling fails */

#define ONCE_IN_MOST 1e6

/* What was read last. */
struct reading {
    struct harvest harvest;
    struct trie *trie;
    struct pathmap *map;
    struct counted *counted;
    struct trie *scaled; /* with phases: what the map is over */
};

struct fathom_calls {
    struct fathom_calls_options options;
    struct host host;
    struct hooked hooked;
    struct phased *phased; /* NULL: hooks do not follow phases */
    struct image_cache *images;
    struct outfile *out;         /* the saved tree; NULL: none */
    uint64_t began, began_ticks; /* ns; the time-stamp counter */
    bool ended;                  /* the command */
    struct reading reading;
};

static enum record_counter counter_of(const struct fathom_calls_options *o)
{
    switch (o->counter) {
    case FATHOM_CALLS_LSS:
        return RECORD_LSS;
    case FATHOM_CALLS_BSS:
        return RECORD_BSS;
    case FATHOM_CALLS_LC:
        return RECORD_LC;
    case FATHOM_CALLS_STICKY:
        return RECORD_STICKY;
    default:
        return RECORD_PURGE;
    }
}

/* Of a thread's tree; a counter's error is then at most eps / PATHS_EACH at each path by its call sites. */
static uint32_t counters(const struct fathom_calls_options *o)
{
    return (uint32_t)fmin(ceil(PATHS_EACH / o->eps), UINT32_MAX);
}

static uint32_t node_limit(const struct fathom_calls_options *o)
{
    uint32_t nodes = counters(o);
    if (o->counter == FATHOM_CALLS_EXACT)
        return 0;
    return nodes < LEAST_NODES ? LEAST_NODES : nodes;
}

/* As in struct recording. */
static uint32_t once_in(const struct fathom_calls_options *o)
{
    if (!o->adaptive)
        return 0;
    return o->re_enable > 0 ? (uint32_t)fmin(round(100 / o->re_enable), ONCE_IN_MOST) : UINT32_MAX;
}

static bool is_space_saving(const struct fathom_calls_options *o)
{
    return o->counter == FATHOM_CALLS_LSS || o->counter == FATHOM_CALLS_BSS;
}

/* "0.0022" or "100". */
static const char *percent_format(char text[32], double percent)
{
    snprintf(text, 32, percent < 10 ? "%.2g" : "%.0f", percent);
    return text;
}

/* How far weights may be from the true ones. */
static void print_error(const struct fathom_calls *c, FILE *out)
{
    const struct fathom_calls_options *o = &c->options;
    const struct harvest *h = &c->reading.harvest;
    char whole[32], most[32];
    double all = (double)h->calls + (double)h->purged;
    double bound = 100 * (o->counter == FATHOM_CALLS_STICKY ? o->eps / PATHS_EACH
                          : all > 0                         ? (double)h->bound / all
                                                            : 0);
    if (is_space_saving(o) && h->bound)
        fprintf(out, "error:    at most %s%% of the weight at each path by its call sites is not its own%s\n",
                percent_format(most, bound), h->threads > 1 ? ", or is missing there" : "");
    if (h->purged)
        fprintf(out, "forgotten: %s%% of the weight; at most %s%% of each path by its call sites%s\n",
                percent_format(whole, 100 * (double)h->purged / all), percent_format(most, bound),
                o->counter == FATHOM_CALLS_STICKY ? ", with a probability of 99%" : "");
}

static void print_phases(const struct fathom_calls *c, FILE *out)
{
    const struct phased_phase *phases;
    const size_t count = phased_phases(c->phased, &phases);
    unsigned long long intervals = 0, profiled = 0;
    double work = 0, covered = 0;
    for (size_t i = 0; i < count; i++) {
        intervals += phases[i].intervals;
        profiled += phases[i].profiled;
        work += phases[i].work;
        covered += phases[i].profiled ? phases[i].work : 0;
    }
    fprintf(out,
            "phases:   %zu in %llu intervals; hooks were in in %llu of these, which stand for the others of "
            "their phases",
            count, intervals, profiled);
    if (covered < work)
        fprintf(out, "; %.1f%% of the time is of phases in which they never were",
                100 * (1 - covered / work));
    fprintf(out, "\n");
}

static void print_heading(const struct fathom_calls *c, FILE *out)
{
    const struct fathom_calls_options *o = &c->options;
    const struct harvest *h = &c->reading.harvest;
    const struct counted *counted = c->reading.counted;
    char weight[WEIGHT_SIZE];
    bool time = o->metric == FATHOM_CALLS_TIME;
    weight_format(weight, counted_weight(counted), time ? WEIGHT_NS : "calls");
    fprintf(out, "calls:    %s%s in %llu process%s, %llu thread%s; %zu %scontext%s", weight,
            time ? " between calls" : " calls", (unsigned long long)h->stores, h->stores == 1 ? "" : "es",
            (unsigned long long)h->threads, h->threads == 1 ? "" : "s", counted_hot(counted),
            o->counter == FATHOM_CALLS_EXACT ? "" : "hot ", counted_hot(counted) == 1 ? "" : "s");
    if (o->counter != FATHOM_CALLS_EXACT)
        fprintf(out, " of %g%% or more", 100 * o->phi);
    fprintf(out, "\n");
    print_error(c, out);
    if ((o->burst > 0 || o->burst_calls) && !h->bursts)
        fprintf(out, "bursts:   none has ended: the calls are those of the start alone\n");
    else if (o->burst > 0)
        fprintf(out, "bursts:   %llu, of %.3g ms each on average; only calls in bursts are counted\n",
                (unsigned long long)h->bursts, (double)h->burst_ns / (double)h->bursts / 1e6);
    else if (o->burst_calls)
        fprintf(out,
                "bursts:   %llu, one of %llu calls after %llu checks, or the time that these may take; only "
                "calls in "
                "bursts are counted\n",
                (unsigned long long)h->bursts, (unsigned long long)o->burst_calls,
                (unsigned long long)o->check_calls);
    if (c->phased)
        print_phases(c, out);
    if (o->adaptive)
        fprintf(out, "omitted:  %llu bursts in contexts known from others, or without calls\n",
                (unsigned long long)h->bursts_omitted);
    fprintf(out, "\n");
}

#define PHASE_ROWS 5 /* contexts of each phase, where the number is not given */

/* The hot contexts of a phase. */
static int write_phase(const struct fathom_calls *c, uint32_t phase, struct view_options view, FILE *out,
                       struct fathom_error *err)
{
    const struct phased_phase *phases;
    phased_phases(c->phased, &phases);
    const struct phased_phase *of = &phases[phase - 1];
    const struct counted_options counting = {0};
    struct trie *trie = NULL;
    struct pathmap *map = NULL;
    struct counted *counted = NULL;
    struct contexts contexts;
    char weight[WEIGHT_SIZE];
    int rc = phased_trie(c->phased, phase, &trie, err);
    if (rc == 0)
        rc = pathmap_over(trie, &map, err);
    if (rc == 0)
        rc = counted_new(map, c->images, &counting, &counted, err);
    if (rc == 0) {
        counted_contexts(counted, &contexts);
        fprintf(out, "\nphase %u: %s calls; hooks were in in %u of %u interval%s\n", phase,
                weight_format(weight, counted_weight(counted), "calls"), of->profiled, of->intervals,
                of->intervals == 1 ? "" : "s");
        view.max_rows = view.max_rows ? view.max_rows : PHASE_ROWS;
        rc = view_write(&contexts, &view, out, err);
    }
    counted_free(counted);
    pathmap_close(map);
    trie_free(trie);
    return rc;
}

int fathom_calls_write(struct fathom_calls *c, const struct fathom_calls_listing *listing, FILE *out,
                       struct fathom_error *err)
{
    struct contexts contexts;
    struct view_options view = {.min_percent = listing->min_percent,
                                .max_rows = listing->rows,
                                .show_image = true,
                                .unit = c->options.metric == FATHOM_CALLS_TIME ? WEIGHT_NS : "calls",
                                .colour = listing->colour,
                                .width = listing->width,
                                .verbose = host_is_verbose(&c->host)};
    view.view = report_word_find("view", view_table, sizeof *view.view, listing->view, err);
    if (!view.view)
        return -EINVAL;
    if (view.view->accesses)
        return error_set(err, EINVAL, "view %s is of recordings: calls access no data", view.view->name);
    if (view.view->levels)
        return error_set(err, EINVAL, "view %s is of recordings: calls are counted of all processes together",
                         view.view->name);
    counted_contexts(c->reading.counted, &contexts);
    if (listing->format == FATHOM_CALLS_FOLDED)
        return folded_write(&contexts, out, err);
    print_heading(c, out);
    int rc = view_write(&contexts, &view, out, err);
    const struct phased_phase *phases;
    const size_t count = c->phased ? phased_phases(c->phased, &phases) : 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = phases[i].profiled ? write_phase(c, i + 1, view, out, err) : 0;
    return rc;
}

/* ns for each tick, by what passed since the start. */
static double tick_of(const struct fathom_calls *c)
{
    uint64_t ticks = __rdtsc() - c->began_ticks;
    return ticks ? (double)(clock_ns() - c->began) / (double)ticks : 0;
}

static int save_tree(const struct fathom_calls *c, struct fathom_error *err)
{
    const struct harvest *h = &c->reading.harvest;
    struct contexts contexts;
    counted_contexts(c->reading.counted, &contexts);
    uint32_t count = frames_count(contexts.frames);
    struct trace_function *functions = malloc((count + 1) * sizeof *functions);
    int fd, rc = functions ? outfile_begin(c->out, &fd, err) : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const struct frame *f = frames_at(contexts.frames, i);
        functions[i] = (struct trace_function){f->image, f->name, f->address};
    }
    uint64_t bound = h->purged + (is_space_saving(&c->options) ? h->bound : 0);
    struct saved_tree tree = {
        .tree = contexts.tree,
        .functions = functions,
        .function_count = count,
        .unit = metrics_unit(contexts.metrics, 0),
        .command = c->options.command[0],
        .bound = c->options.metric == FATHOM_CALLS_TIME ? (uint64_t)((double)bound * tick_of(c)) : bound};
    if (rc == 0)
        rc = saved_tree_write(&tree, fd, outfile_path(c->out), err);
    if (rc == 0)
        rc = outfile_publish(c->out, false, err);
    free(functions);
    return rc;
}

/* How much less than it has a path may be told to have, or weigh without being there. */
static uint64_t bound_of(const struct fathom_calls_options *o, const struct harvest *h)
{
    if (o->counter == FATHOM_CALLS_STICKY)
        return (uint64_t)(o->eps / PATHS_EACH * ((double)h->calls + (double)h->purged));
    return h->bound;
}

static void clear_reading(struct reading *r)
{
    counted_free(r->counted);
    pathmap_close(r->map);
    trie_free(r->scaled);
    trie_free(r->trie);
    harvest_free(&r->harvest);
    *r = (struct reading){0};
}

/* The whole run's counts by those of the intervals in which hooks were in. */
static int scale(struct fathom_calls *c, struct fathom_error *err)
{
    const struct phased_phase *phases;
    int rc = c->ended ? phased_end(c->phased, err) : 0;
    size_t count = phased_phases(c->phased, &phases), profiled = 0;
    for (size_t i = 0; i < count; i++)
        profiled += phases[i].profiled > 0;
    if (rc == 0 && c->ended && !profiled)
        rc = error_set(
            err, ECHILD,
            "%s ran for too short a time for its phases to be told: give a shorter --phases, or leave it out",
            c->options.command[0]);
    return rc == 0 ? phased_trie(c->phased, 0, &c->reading.scaled, err) : rc;
}

int fathom_calls_count(struct fathom_calls *c, struct fathom_error *err)
{
    const struct fathom_calls_options *o = &c->options;
    struct reading *r = &c->reading;
    struct session *session = c->hooked.session;
    struct counted_options counting = {.time = o->metric == FATHOM_CALLS_TIME,
                                       .tick = tick_of(c),
                                       .phi = o->counter == FATHOM_CALLS_EXACT ? 0 : o->phi};
    clear_reading(r);
    r->harvest.own = true;
    r->trie = trie_new();
    int rc = r->trie ? harvest_directory(&r->harvest, r->trie, c->images, session_directory(session),
                                         c->ended ? &c->host.log : NULL, err)
                     : error_memory(err);
    if (rc == 0 && c->ended)
        hooks_say(&c->host, &r->harvest, session, o->image_count > 0);
    if (rc == 0 && r->harvest.calls + r->harvest.purged == 0 && c->ended)
        rc = hooks_none(o->command[0], session_notes(session), o->image_count > 0, err);
    if (rc == 0 && c->phased)
        rc = scale(c, err);
    if (rc == 0)
        rc = pathmap_over(r->scaled ? r->scaled : r->trie, &r->map, err);
    counting.bound = bound_of(o, &r->harvest);
    counting.lost = r->harvest.purged;
    return rc == 0 ? counted_new(r->map, c->images, &counting, &r->counted, err) : rc;
}

int fathom_calls_save(struct fathom_calls *c, struct fathom_error *err)
{
    int rc = c->out ? save_tree(c, err) : 0;
    if (rc == 0)
        hooks_say_losses(&c->host, &c->reading.harvest, session_directory(c->hooked.session));
    return rc;
}

static int open_phased(struct fathom_calls *c, struct fathom_error *err)
{
    const struct fathom_calls_options *o = &c->options;
    const uint64_t share = o->phase_share ? o->phase_share : FATHOM_PHASE_SHARE;
    const struct phased_options options = {
        .interval_ns = o->phase_interval * 1e6,
        .sampling = {.policy = (enum phase_sampling_policy)o->phase_policy,
                     .share = share > UINT32_MAX ? UINT32_MAX : (uint32_t)share,
                     .seed = clock_ns()},
        .images = c->images,
        .host = &c->host,
        .hooked = &c->hooked};
    return phased_new(&options, &c->phased, err);
}

int fathom_calls_open(const struct fathom_calls_options *options, const struct fathom_listener *listener,
                      struct fathom_calls **out, struct fathom_error *err)
{
    struct fathom_calls *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    struct fathom_calls_options *o = &c->options;
    *o = *options;
    if (o->eps <= 0)
        o->eps = o->phi / 5; /* as in the HCCT paper, section 5.2 */
    if (o->phase_interval > 0)
        o->counter = FATHOM_CALLS_EXACT;
    host_init(&c->host, listener);
    c->images = image_cache_new(&(struct image_options){.log = &c->host.log});
    struct session_options session_options = {
        .names = o->images,
        .name_count = o->image_count,
        .no_map = true,
        .recording = {.weigh_ticks = o->metric == FATHOM_CALLS_TIME,
                      .node_limit = node_limit(o),
                      .counter = counter_of(o),
                      .counters = counters(o),
                      .sticky_t = (uint64_t)(PATHS_EACH * log(1 / (o->phi * DELTA)) / o->eps),
                      .once_in = once_in(o),
                      .burst_calls = o->burst_calls,
                      .check_calls = o->check_calls,
                      .on_request = o->phase_interval > 0,
                      .burst_ns = (uint64_t)(o->burst * 1e6),
                      .interval_ns = (uint64_t)(o->interval * 1e6)},
        .images = c->images,
        .log = &c->host.log};
    int rc = c->images ? 0 : error_memory(err);
    if (rc == 0 && o->output)
        rc = outfile_open(o->output, &c->out, err);
    if (rc == 0)
        rc = hooked_open(&c->hooked, &session_options, o->runtime, &c->host, err);
    if (rc == 0 && o->phase_interval > 0)
        rc = open_phased(c, err);
    if (rc == 0)
        *out = c;
    else
        fathom_calls_close(c);
    return rc;
}

int fathom_calls_start(struct fathom_calls *c, struct fathom_error *err)
{
    c->began = clock_ns();
    c->began_ticks = __rdtsc();
    return hooked_start(&c->hooked, c->options.command, NULL, err);
}

int fathom_calls_run(struct fathom_calls *c, double seconds)
{
    struct hooked_serving serving = {.duration = c->options.duration};
    if (c->phased) {
        serving.asked = phased_begin;
        serving.poll = phased_poll;
        serving.context = c->phased;
    }
    c->ended = !hooked_serve(&c->hooked, &serving, seconds);
    if (c->ended)
        hooks_say_unhooked(&c->host, session_notes(c->hooked.session));
    return !c->ended;
}

void fathom_calls_stop(struct fathom_calls *c)
{
    atomic_store(&c->hooked.stop, true);
}

int fathom_calls_status(const struct fathom_calls *c)
{
    return c->hooked.status;
}

void fathom_calls_close(struct fathom_calls *c)
{
    if (!c)
        return;
    clear_reading(&c->reading);
    phased_free(c->phased);
    hooked_close(&c->hooked);
    image_cache_free(c->images);
    outfile_close(c->out);
    free(c);
}
