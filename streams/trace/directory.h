/*
 * directory.h - a trace: a directory with a file for each thread (streams/wire.h), PID-TID-N.burst, what else is known of each
 * process (streams/process_wire.h), and the duplicated files with the lists of their places (site_list.h).
 */
#ifndef FATHOM_STREAMS_TRACE_DIRECTORY_H
#define FATHOM_STREAMS_TRACE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "streams/wire.h"

#define TRACE_IMAGES "images" /* the directory of these files; their names are N-NAME */
#define TRACE_BURSTS ".burst"

/* A new one, for this user alone. */
int trace_directory_make(const char *path, struct fathom_error *err);
bool trace_directory_is(const char *path);
/* Removes it with all files that a trace has; anything else in it stays, and is an error. */
int trace_directory_remove(const char *path, struct fathom_error *err);

struct trace_thread_file {
    char *path;
    uint32_t pid, tid, number;
    struct stream_header header; /* zeros: it has none, as it had only begun when its process was killed */
};

/* The files of its threads, by pid, process (streams/process_wire.h), tid and number. The caller frees them with
 * trace_directory_free(). */
int trace_directory_list(const char *path, struct trace_thread_file **out, size_t *count,
                         struct fathom_error *err);
void trace_directory_free(struct trace_thread_file *files, size_t count);

struct trace_totals {
    uint64_t records, bursts, lost, bytes, checks;
    uint32_t threads, processes;
    uint32_t full; /* traces that ended early, */
    bool disk;     /* and not at their bound */
};

int trace_directory_totals(const char *path, struct trace_totals *out, struct fathom_error *err);

#endif
