/* script_watch.c - see script_watch.h. */
#include "infer/live/script_watch.h"

#include <stdlib.h>

#include "infer/live/feed.h"

struct script_watch {
    struct script_watch_input in;
    struct script_finder *finder;
    struct feed *feed;
};

static enum feed_choice choose_sample(void *watch, const struct event *event, size_t queued)
{
    (void)watch;
    (void)event;
    (void)queued;
    return FEED_LEAVE;
}

static int take_record(void *watch, struct processes *processes, const struct record *record,
                       struct fathom_error *err)
{
    struct script_watch *w = watch;
    (void)err;
    script_finder_take(w->finder, processes, record);
    if (record->kind == RECORD_FORK && record->pid != record->fork.parent_pid)
        w->in.fork(w->in.found.context, record->fork.parent_pid, record->pid);
    return 0;
}

static void clear_watch(struct script_watch *w)
{
    script_finder_free(w->finder);
    free(w);
}

int script_watch_start(const struct script_watch_input *input, struct script_watch **out,
                       struct fathom_error *err)
{
    struct script_watch *w = calloc(1, sizeof *w);
    if (!w)
        return error_memory(err);
    w->in = *input;
    w->finder = script_finder_new(&input->found);
    int rc = w->finder ? 0 : error_memory(err);
    if (rc == 0)
        rc = feed_start(&(struct feed_input){.events = input->events,
                                             .count = input->count,
                                             .choose = choose_sample,
                                             .take = take_record,
                                             .context = w,
                                             .at_once = true},
                        &w->feed, err);
    if (rc < 0)
        clear_watch(w);
    else
        *out = w;
    return rc;
}

int script_watch_add(struct script_watch *w, const void *records, size_t size, struct fathom_error *err)
{
    return feed_add(w->feed, records, size, err);
}

void script_watch_stop(struct script_watch *w)
{
    if (!w)
        return;
    feed_stop(w->feed, NULL);
    clear_watch(w);
}
