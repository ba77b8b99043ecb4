/*
 * feed.h - hands the records of a recording that is being made to a function, in a thread of its own, with the
 * processes that they describe. They come in order of time as far as those added while the function was busy go: a
 * record of another CPU may come late, and what is learned of it is then missing, not wrong.
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
    /* What to do with a sample of this event; `queued` bytes are waiting. Called by feed_add(). All other records are
     * taken. */
    enum feed_choice (*choose)(void *context, const struct event *event, size_t queued);
    /* Called by the thread, before it applies the record to the processes. A negative result ends the thread. */
    int (*take)(void *context, struct processes *processes, const struct record *record,
                struct fathom_error *err);
    void *context;
    bool
        at_once; /* few records are wanted, and those soon: the thread does not rest to have many to look at */
};

int feed_start(const struct feed_input *input, struct feed **out, struct fathom_error *err);
/* Whole raw records, as the collector passes them on; those that are taken are copied. Negative, once: the thread has
 * ended, with this error. */
int feed_add(struct feed *feed, const void *records, size_t size, struct fathom_error *err);
/* How often feed_add() was called with records that the thread has taken all of. */
uint64_t feed_looked(struct feed *feed);
/* Ends the thread, after it has looked at what it was given. *images: the files that it opened, for the caller to free; images NULL: they are
 * closed. feed NULL is allowed: then there are none. */
void feed_stop(struct feed *feed, struct image_cache **images);

#endif
