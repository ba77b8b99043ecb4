/*
 * call_logs.h - reads the calls logged by the processes of a session (pathmap/wire/call_log.h), as calls and
 * returns.
 *
 * Returns are not logged: a function has returned when a call follows that is not below it. A thread that
 * continues on another stack leaves all frames of the old one and resumes those of the new one.
 */
#ifndef FATHOM_PATHMAP_TRAIN_CALL_LOGS_H
#define FATHOM_PATHMAP_TRAIN_CALL_LOGS_H

#include "base/error.h"
#include "pathmap/train/store_file.h"

struct call_log_call {
    uint32_t returned; /* frames that returned before it */
    bool resumed;      /* not a call: a frame of another stack is resumed */
    uint32_t function; /* the store's; below header.function_count, not 0 */
    uint32_t site;     /* as in struct store_node */
    uint32_t ticks;    /* since the thread's previous call; 0 if resumed */
};

/* All return 0, or a negative errno, which ends the reading. */
struct call_log_visitor {
    /* Begins this store's process, whose calls follow; the store remains valid until the next one. */
    int (*process)(void *context, const struct store_file *store, struct fathom_error *err);
    /* Begins a thread of it. */
    int (*thread)(void *context, const struct store_file *store, uint32_t tid, struct fathom_error *err);
    int (*call)(void *context, const struct store_file *store, const struct call_log_call *call,
                struct fathom_error *err);
    void *context;
};

struct call_logs_read {
    uint64_t calls, unsound; /* unsound: events of nodes that do not exist, left out */
    uint64_t cut;            /* logs that end early because space ran out */
    uint64_t dropped;        /* calls that the runtime could neither count (store.h) nor log */
    uint64_t unread;         /* logs and stores that cannot be read */
};

/* Errors: the visitor's; system errors. */
int call_logs_read(const char *directory, const struct call_log_visitor *visitor, struct call_logs_read *out,
                   struct fathom_error *err);

#endif
