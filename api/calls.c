/* calls.c - counts all calls of a command by their contexts, in bounded memory. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "api/calls_data.h"
#include "api/hooks/hooks.h"
#include "base/clock.h"
#include "hcct/saved_tree.h"

#define LEAST_NODES 4096u
#define DELTA       0.01 /* the probability that Sticky Sampling fails */

#define ONCE_IN_MOST 1e6

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

/* The number of counters per thread, which limits the error of a path with call sites to eps / PATHS_EACH. */
static uint32_t counters_of(const struct fathom_calls_options *o)
{
    return (uint32_t)fmin(ceil(PATHS_EACH / o->eps), UINT32_MAX);
}

static uint32_t node_limit(const struct fathom_calls_options *o)
{
    uint32_t nodes = counters_of(o);
    if (o->counter == FATHOM_CALLS_EXACT)
        return 0;
    return nodes < LEAST_NODES ? LEAST_NODES : nodes;
}

/* `once_in` of struct recording. */
static uint32_t once_in(const struct fathom_calls_options *o)
{
    if (!o->adaptive)
        return 0;
    return o->re_enable > 0 ? (uint32_t)fmin(round(100 / o->re_enable), ONCE_IN_MOST) : UINT32_MAX;
}

/* Nanoseconds per tick, measured since the start. */
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
    uint64_t bound = h->purged + (calls_space_saving(&c->options) ? h->bound : 0);
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

/* Upper bound on how much a path's count can be too low, or how much a missing path can weigh. */
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

/* Scales the counts of hooked intervals to the whole run. */
static int scale_counts(struct fathom_calls *c, struct fathom_error *err)
{
    const struct phase_tally *phases;
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
        rc = scale_counts(c, err);
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
                      .counters = counters_of(o),
                      .sticky_t = (uint64_t)(PATHS_EACH * log(1 / (o->phi * DELTA)) / o->eps),
                      .once_in = once_in(o),
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
