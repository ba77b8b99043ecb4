/*
 * directory.h - a trace: a directory with a file for each thread (streams/wire.h), PID-TID-N.burst, one for each
 * process (streams/process_wire.h), and the duplicated files with their lists of places (site_list.h).
 */
#ifndef FATHOM_STREAMS_TRACE_DIRECTORY_H
#define FATHOM_STREAMS_TRACE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "streams/wire.h"

#define TRACE_IMAGES "images" /* the directory of duplicated files, whose names are N-NAME */
#define TRACE_BURSTS ".burst"

/* Makes a new one, for this user alone. */
int trace_directory_make(const char *path, struct fathom_error *err);
bool trace_directory_is(const char *path);
/* Removes it with all files that belong to a trace; anything else in it stays, and is an error. */
int trace_directory_remove(const char *path, struct fathom_error *err);

struct trace_thread_file {
    char *path;
    uint32_t pid, tid, number;
    struct stream_header header; /* zeros: none, as its process was killed when it had only begun */
};

/* The files of its threads, by pid, process (streams/process_wire.h), tid and number. Free them with
 * trace_directory_free(). */
int trace_directory_list(const char *path, struct trace_thread_file **out, size_t *count,
                         struct fathom_error *err);
void trace_directory_free(struct trace_thread_file *files, size_t count);

struct trace_totals {
    uint64_t records, bursts, lost, bytes, checks;
    uint32_t threads, processes;
    uint32_t full; /* traces that ended early, */
    bool disk;     /* and not because of their limit */
};

int trace_directory_totals(const char *path, struct trace_totals *out, struct fathom_error *err);

#endif
