/*
 * trace.h - reads a trace as a whole: the bursts of all threads of each process, in the order of what they allocated, with the call paths
 * in which they were, and where each reference's datum is: in which object of the heap as it was then, or of a file.
 */
#ifndef FATHOM_STREAMS_TRACE_TRACE_H
#define FATHOM_STREAMS_TRACE_TRACE_H

#include "streams/trace/places.h"
#include "streams/trace/process_file.h"

struct trace;

struct trace_process {
    uint32_t pid;
    struct places *places;
    uint32_t number;            /* together with the PID it tells processes apart */
    struct process_file *noted; /* its call paths and its heap; NULL: not known */
};

enum trace_what {
    TRACE_BURST, /* one begins, or goes on after something of another thread's */
    TRACE_PATH,  /* it has come into another call path */
    TRACE_REFERENCE
};

struct trace_event {
    enum trace_what what;
    const struct trace_process *process;
    uint32_t tid;
    uint64_t path; /* the process's call path in which it began, or is, by its id; 0: unknown */
    struct traced_image *image;
    const struct duplicate_site *site;
    uint64_t datum; /* address; 0: none */
};

/* The cache must outlive it. -ENOENT, -EBADMSG and others: of the directory, or the list of a duplicated file's places; damaged traces of
 * threads are told to the log, and read as far as they go. */
int trace_open(const char *directory, struct image_cache *cache, const struct log *log, struct trace **out,
               struct fathom_error *err);
void trace_close(struct trace *trace); /* NULL is allowed */
/* 1: *out is the next one; 0: the end, after which it begins again. */
int trace_next(struct trace *trace, struct trace_event *out, struct fathom_error *err);
struct trace_counts {
    uint64_t bursts, records;
    uint64_t unknown; /* records of instructions that no list of places has */
    uint64_t lost;    /* records that the log had no room for */
    uint32_t damaged; /* traces of threads */
};
/* What was read so far; who reads the trace again counts all again. */
const struct trace_counts *trace_counts(const struct trace *trace);

#endif
