/*
 * script_watch.h - finds processes with an interpreter in the records of a recording without a BPF program: by the names of the
 * files that they map (script_finder.h), in a thread of its own.
 */
#ifndef FATHOM_INFER_LIVE_SCRIPT_WATCH_H
#define FATHOM_INFER_LIVE_SCRIPT_WATCH_H

#include "infer/live/script_finder.h"

struct script_watch;

struct script_watch_input {
    const struct event *events; /* borrowed */
    size_t count;
    struct script_finder_input found;
    /* A process forks: the child has the interpreter of its parent. */
    void (*fork)(void *context, uint32_t parent, uint32_t child);
};

int script_watch_start(const struct script_watch_input *input, struct script_watch **out,
                       struct fathom_error *err);
/* Whole raw records, as the collector passes them on; what is needed is copied. */
int script_watch_add(struct script_watch *watch, const void *records, size_t size, struct fathom_error *err);
void script_watch_stop(struct script_watch *watch); /* NULL is allowed */

#endif
