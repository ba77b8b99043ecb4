/*
 * feed.h - hands the records of a running recording to a function, in a thread of its own, with the processes that they
 * describe. Records that were added while the function was busy are sorted by time. A record from another CPU may still come
 * late; what is learned from it is then missing, not wrong.
 */
#ifndef FATHOM_INFER_LIVE_FEED_H
#define FATHOM_INFER_LIVE_FEED_H

#include "perfdata/record.h"
#include "process/process.h"

struct feed;

enum feed_choice {
    FEED_LEAVE,
    FEED_TAKE,
    FEED_HOLD, /* take it, and keep it in memory until the next sample was taken, too */
};

/* All borrowed. */
struct feed_input {
    const struct event *events;
    size_t count;
    /* What to do with a sample of this event, while `queued` bytes are waiting. Called by feed_add(). All other records are
     * taken. NULL: samples are left. */
    enum feed_choice (*choose)(void *context, const struct event *event, size_t queued);
    /* Called by the thread, before it applies the record to the processes. A negative result ends the thread. */
    int (*take)(void *context, struct processes *processes, const struct record *record,
                struct fathom_error *err);
    void *context;
    bool at_once; /* few records are wanted, but soon: the thread does not rest to collect many */
};

int feed_start(const struct feed_input *input, struct feed **out, struct fathom_error *err);
/* Whole raw records, as the collector passes them on; those that are taken are copied. A negative result, once: the thread has
 * ended with this error. */
int feed_add(struct feed *feed, const void *records, size_t size, struct fathom_error *err);
/* The number of feed_add() calls whose records were all handled. */
uint64_t feed_looked(struct feed *feed);
/* Ends the thread after it has handled all records. *images: the files that it opened, owned by the caller; images NULL: they
 * are closed. feed NULL is allowed: *images is then NULL. */
void feed_stop(struct feed *feed, struct image_cache **images);

#endif
