/*
 * burst_file.h - reads the trace of one thread (streams/wire.h), which may be damaged or hostile: reading stops
 * at a record that the runtime could not have written.
 */
#ifndef FATHOM_STREAMS_TRACE_BURST_FILE_H
#define FATHOM_STREAMS_TRACE_BURST_FILE_H

#include "base/error.h"
#include "streams/wire.h"

enum burst_what {
    BURST_RECORD, /* pc, datum */
    BURST_BEGINS, /* number: checks passed before */
    BURST_ENDS,
    BURST_LOST, /* number: of records */
    BURST_CONTEXT, /* follows BURST_BEGINS, and changes; number: id of the call path (process_file.h); 0: unknown */
    BURST_HEAP, /* if the heap is logged: what follows refers to the heap at the time when the process's file had so
                 * many bytes (number; process_file_advance()) */
};

struct burst_record {
    enum burst_what what;
    uint64_t pc, datum, number;
};

struct burst_file;

/* -ENOENT and other system errors; -EINVAL: not such a file, or of another version. */
int burst_file_open(const char *path, struct burst_file **out, struct fathom_error *err);
/* Reads only the totals in the header; zeros after an error. */
int burst_file_totals(const char *path, struct stream_header *out, struct fathom_error *err);
void burst_file_close(struct burst_file *file); /* NULL is allowed */
const struct stream_header *burst_file_header(const struct burst_file *file);
/* 1: *out is the next record; 0: the end; -EBADMSG: the file is damaged from here on. */
int burst_file_next(struct burst_file *file, struct burst_record *out);

#endif
