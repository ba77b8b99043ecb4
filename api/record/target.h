/*
 * target.h - passes the target of an observation (api/fathom/target.h) to the collector, and drains the collector until the target
 * ends, it is told to stop, or the duration is over.
 */
#ifndef FATHOM_API_RECORD_TARGET_H
#define FATHOM_API_RECORD_TARGET_H

#include <stdatomic.h>

#include "api/fathom/target.h"
#include "collector/collector.h"

/* Fills in the collector's options; they borrow from target and log. */
void target_collector(const struct fathom_target *target, const struct log *log,
                      struct collector_options *out);

struct target_user {
    collector_sink *sink;
    void *sink_context;
    /* Called at least 10 times a second; a negative result ends the run and is returned; a positive one ends it, while another
     * collector continues with the target. May be NULL. */
    int (*progress)(void *context, struct fathom_error *err);
    void *context; /* of it */
    bool started;  /* the collector was started already */
};

/* Starts the collector, drains it to the sink until the end, stops it. After a failure, what reached the sink
 * remains valid. Sends SIGTERM to a launched command that is still running. stop: ends the run once it is true, at once if a
 * signal handler set it. *ended becomes true if the command or all processes ended; NULL is allowed. */
int target_observe(const struct fathom_target *target, struct collector *collector,
                   const struct target_user *user, const atomic_bool *stop, bool *ended,
                   struct fathom_error *err);

#endif
