/*
 * python_watch.h - finds processes with CPython in the records of a recording that is being made without a BPF program: by the names of the files
 * that they map (python_finder.h), in a thread of its own.
 */
#ifndef FATHOM_INFER_LIVE_PYTHON_WATCH_H
#define FATHOM_INFER_LIVE_PYTHON_WATCH_H

#include "infer/live/python_finder.h"

struct python_watch;

struct python_watch_input {
    const struct event *events; /* borrowed */
    size_t count;
    struct python_finder_input found;
    /* A process forks, with that context: the child has what its parent has. */
    void (*fork)(void *context, uint32_t parent, uint32_t child);
};

int python_watch_start(const struct python_watch_input *input, struct python_watch **out,
                       struct fathom_error *err);
/* Whole raw records, as the collector passes them on; what is needed is copied. */
int python_watch_add(struct python_watch *watch, const void *records, size_t size, struct fathom_error *err);
void python_watch_stop(struct python_watch *watch); /* NULL is allowed */

#endif
