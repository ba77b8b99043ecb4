/*
 * trace.h - reads a trace as a whole: the bursts of all threads of each process, in the order of the process's
 * allocations, with their call paths, and the location of each reference's datum: an object of the heap at that
 * time, or of a file.
 */
#ifndef FATHOM_STREAMS_TRACE_TRACE_H
#define FATHOM_STREAMS_TRACE_TRACE_H

#include "streams/trace/places.h"
#include "streams/trace/process_file.h"

struct trace;

struct trace_process {
    uint32_t pid;
    struct places *places;
    uint32_t number;            /* identifies the process, together with the PID */
    struct process_file *noted; /* its call paths and its heap; NULL: unknown */
};

enum trace_what {
    TRACE_BURST, /* a burst begins, or continues after an event of another thread */
    TRACE_PATH,  /* the call path has changed */
    TRACE_REFERENCE
};

struct trace_event {
    enum trace_what what;
    const struct trace_process *process;
    uint32_t tid;
    uint64_t path; /* id of the current call path, among the process's; 0: unknown */
    struct traced_image *image;
    const struct duplicate_site *site;
    uint64_t datum; /* address; 0: none */
};

/* The cache must outlive it. -ENOENT, -EBADMSG and others: of the directory, or of a duplicated file's list of
 * places. Damaged traces of threads are logged, and read up to the damage. */
int trace_open(const char *directory, struct image_cache *cache, const struct log *log, struct trace **out,
               struct fathom_error *err);
void trace_close(struct trace *trace); /* NULL is allowed */
/* 1: *out is the next event; 0: the end, after which it begins again. */
int trace_next(struct trace *trace, struct trace_event *out, struct fathom_error *err);
struct trace_counts {
    uint64_t bursts, records;
    uint64_t unknown; /* records of instructions that are in no list of places */
    uint64_t lost;    /* records for which the log had no room */
    uint32_t damaged; /* damaged traces of threads */
};
/* Counts of what was read so far; reading the trace again counts it again. */
const struct trace_counts *trace_counts(const struct trace *trace);

#endif
