#include "api/fathom/top.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "api/host.h"
#include "api/record/learning.h"
#include "api/record/mapped_sink.h"
#include "api/record/recorder.h"
#include "api/record/target.h"
#include "api/top/counts.h"
#include "api/top/rows.h"
#include "api/top/stored_counts.h"
#include "base/clock.h"
#include "perfdata/wall.h"

_Static_assert(FATHOM_TOP_ALL == FRAMES_NONE, "no item");

struct fathom_top {
    struct fathom_top_options options;
    struct host host;
    struct collector_options collect; /* borrowed by the collector */
    struct collector *collector;
    struct learning *learning;
    struct mapped_sink *mapped; /* copies deleted files, without which stacks cannot be unwound */
    struct image_cache *images;
    struct pathmap *map; /* NULL: none was given */
    struct online *online;
    struct counts *counts;
    struct stored_counts *stored; /* of a store, instead of all members above; NULL: no store */
    struct fathom_top_rows rows;  /* the rows shown last */
    bool ended;
    uint64_t looked; /* when the collector was last polled, ns; 0: not yet */
    unsigned behind; /* polls until the delayed records are counted */
    atomic_bool stop;
};

/* A gap between polls, normally 10 a second, that means that opening files took long. */
#define BEHIND_NS    400000000u
#define BEHIND_LOOKS 3u         /* polls needed to read and sort the records of the gap */
#define PAUSE_NS     100000000u /* between two calls of `progress`, for a store */

static int open_target(struct fathom_top *t, struct fathom_error *err)
{
    t->images = image_cache_new(&(struct image_options){.log = &t->host.log, .live = true});
    t->counts =
        t->images ? counts_new(&(struct counts_options){t->options.eps, t->options.decay}, t->images) : NULL;
    int rc = t->counts ? 0 : error_memory(err);
    if (rc == 0 && t->options.map)
        rc = pathmap_open(t->options.map, &t->map, err);
    if (rc < 0)
        return rc;
    recorder_collector(&(struct fathom_recorder_options){.target = t->options.target,
                                                         .audit_hz = FATHOM_AUDIT_DEFAULT,
                                                         .off_cpu = t->options.off_cpu,
                                                         .wall = t->options.wall},
                       &t->host.log, &t->collect);
    t->collect.waits_told = true;
    return collector_open(&t->collect, &t->collector, err);
}

int fathom_top_open(const struct fathom_top_options *options, const struct fathom_listener *listener,
                    struct fathom_top **out, struct fathom_error *err)
{
    struct fathom_top *t = calloc(1, sizeof *t);
    if (!t)
        return error_memory(err);
    t->options = *options;
    host_init(&t->host, listener);
    int rc = options->store ? stored_counts_new(options->store, options->target.event, &t->stored, err)
                            : open_target(t, err);
    if (rc < 0)
        fathom_top_close(t);
    else
        *out = t;
    return rc;
}

static int count_sample(void *top, const struct online_context *sample, struct fathom_error *err)
{
    struct fathom_top *t = top;
    return counts_add(t->counts, online_trie(t->online), sample, err);
}

/* A collector_sink, after the learning. */
static int resolve_records(void *top, const void *records, size_t size, struct fathom_error *err)
{
    struct fathom_top *t = top;
    return online_add(t->online, records, size, err);
}

/* Reads the names of code that processes have made so far. */
static int name_code(struct fathom_top *t, struct fathom_error *err)
{
    uint8_t *data;
    size_t size;
    int rc = mapped_sink_look(t->mapped, &data, &size, err);
    if (rc == 0 && data)
        rc = online_name_code(t->online, data, size, err);
    free(data);
    return rc;
}

static int show_progress(void *top, struct fathom_error *err)
{
    struct fathom_top *t = top;
    const int named = name_code(t, err);
    if (named < 0)
        return named;
    if (t->looked && clock_ns() - t->looked > BEHIND_NS)
        t->behind = BEHIND_LOOKS;
    else if (t->behind)
        t->behind--;
    int rc = t->options.progress ? t->options.progress(t->options.context, err) : 0;
    t->looked = clock_ns();
    return rc;
}

/* Chooses the events to count, if waits were asked for: the collector was opened with them. */
static void choose_events(const struct fathom_top *t, struct online_input *input)
{
    struct wall wall;
    wall_find(input->events, input->count, &wall);
    if (t->options.off_cpu || t->options.wall)
        input->counted[0] = input->counted[1] = wall.waits;
    if (t->options.wall)
        input->counted[0] = wall.clock;
}

static int observe_target(struct fathom_top *t, struct fathom_error *err)
{
    struct online_input input = {
        .images = t->images, .log = &t->host.log, .map = t->map, .sink = count_sample, .context = t};
    bool ended = false;
    input.count = collector_events(t->collector, &input.events);
    choose_events(t, &input);
    int rc = online_new(&input, &t->online, err);
    if (rc == 0)
        rc = learning_new(t->collector, &t->collect, false, false, resolve_records, t, &t->learning, err);
    if (rc == 0)
        rc = mapped_sink_new(&(struct mapped_sink_input){.events = input.events,
                                                         .count = input.count,
                                                         .names = &t->host.log,
                                                         .next = learning_add,
                                                         .context = t->learning},
                             &t->mapped, err);
    if (rc == 0)
        rc = target_observe(
            &t->options.target, t->collector,
            &(struct target_user){
                .sink = mapped_sink_add, .sink_context = t->mapped, .progress = show_progress, .context = t},
            &t->stop, &ended, err);
    if (rc == 0)
        rc = online_finish(t->online, err);
    t->ended = rc == 0 && ended;
    return rc;
}

/* The store is read when `progress` asks for rows. */
static int observe_store(struct fathom_top *t, struct fathom_error *err)
{
    const struct timespec pause = {0, PAUSE_NS};
    const uint64_t began = clock_ns();
    const double duration = t->options.target.duration;
    int rc = 0;
    while (rc == 0 && !atomic_load(&t->stop) &&
           !(duration > 0 && (double)(clock_ns() - began) / 1e9 >= duration)) {
        nanosleep(&pause, NULL);
        rc = t->options.progress ? t->options.progress(t->options.context, err) : 0;
    }
    return rc;
}

int fathom_top_run(struct fathom_top *t, struct fathom_error *err)
{
    return t->stored ? observe_store(t, err) : observe_target(t, err);
}

void fathom_top_stop(struct fathom_top *t)
{
    atomic_store(&t->stop, true);
}

void fathom_top_close(struct fathom_top *t)
{
    if (!t)
        return;
    learning_free(t->learning);
    mapped_sink_free(t->mapped);
    online_free(t->online);
    counts_free(t->counts);
    stored_counts_free(t->stored);
    rows_clear(&t->rows);
    pathmap_close(t->map);
    collector_close(t->collector);
    image_cache_free(t->images);
    free(t);
}

int fathom_top_clear(struct fathom_top *t, struct fathom_error *err)
{
    if (t->stored)
        return 0;
    if (counts_clear(t->counts) < 0)
        return error_memory(err);
    if (t->online)
        online_restart(t->online);
    return 0;
}

void fathom_top_summary(const struct fathom_top *t, struct fathom_top_summary *out)
{
    struct online_summary o = {0};
    struct collector_summary c;
    const struct event *events;
    if (t->stored) {
        stored_counts_summary(t->stored, out);
        return;
    }
    if (t->online)
        online_summary(t->online, &o);
    collector_summary(t->collector, &c);
    collector_events(t->collector, &events);
    *out = (struct fathom_top_summary){.event = t->options.wall      ? EVENT_WALL_NAME
                                                : t->options.off_cpu ? EVENT_WAITS_NAME
                                                                     : events[0].name,
                                       .samples = o.samples,
                                       .weight = o.weight,
                                       .proved = o.proved,
                                       .inferred = o.inferred,
                                       .lost_now = o.lost,
                                       .stacks = o.stacks,
                                       .full = o.full,
                                       .lost = c.lost,
                                       .throttled = c.throttled,
                                       .unread = c.stacks_crowded,
                                       .scripts_apart = o.scripts_apart,
                                       .behind = t->behind > 0,
                                       .ended = t->ended,
                                       .status = collector_status(t->collector)};
}

int fathom_top_rows(struct fathom_top *t, const struct fathom_top_show *show, struct fathom_top_rows *out,
                    struct fathom_error *err)
{
    struct fathom_top_rows rows;
    int rc = t->stored ? stored_counts_read(t->stored, err) : 0;
    if (rc < 0)
        return rc;
    struct cct *tree =
        t->stored ? stored_counts_tree(t->stored) : counts_tree(t->counts, show->threads, show->thread);
    const struct frames *frames = t->stored ? stored_counts_frames(t->stored) : counts_frames(t->counts);
    rc = tree ? rows_make(tree, frames, show, &rows) : -ENOMEM;
    if (!t->stored)
        cct_free(tree);
    if (rc < 0)
        return error_memory(err);
    rows_clear(&t->rows);
    *out = t->rows = rows;
    return 0;
}
