/*
 * reader.h - reads a recording: a perf.data file (ours, stock perf's, zstd-compressed ones and pipe mode), a
 * directory of them (perf record --threads, --kcore), or one in progress.
 *
 * The file may be hostile: every offset and size is checked. A truncated file (Ctrl-C, full disk, crash) is
 * read as far as possible and reported as truncated (`truncated` below).
 */
#ifndef FATHOM_PERFDATA_READER_H
#define FATHOM_PERFDATA_READER_H

#include "base/log.h"
#include "perfdata/order.h"

struct reader;
struct host;
struct scaling;

struct reader_summary {
    uint64_t records, samples;
    uint64_t lost;               /* records or samples that the kernel reported as lost */
    uint64_t throttled;          /* times that the kernel paused an event */
    uint64_t damaged;            /* records that could not be decoded and were skipped */
    uint64_t unresolved;         /* stacks whose frames are unknown: announced.h */
    uint64_t script_readings;    /* scripts_readings() */
    uint64_t started, unsampled; /* threads started during the recording; how many of them had no sample */
    uint64_t unended;            /* latency_unended() */
    uint64_t counted;            /* by the event of reader_main_event(), in its unit; 0: unknown */
    double counted_share;        /* share of the time for which it was enabled; 0: unknown */
    uint64_t cpu_time;           /* ns: CPU time of what was followed, including the kernel; 0: unknown */
    bool stacks;                 /* it has [stack:TID] mappings with stack bases, from our recorder */
    bool truncated;              /* the file ends in the middle */
    bool compressed, pipe;
};

/* Errors: system errors; -ENOMSG: not a perf.data file, or a directory without one; -EBADMSG: too
 * damaged to read anything; -ENOTSUP: a foreign byte order, another architecture, events whose samples cannot
 * be distinguished. "-" reads standard input to its end, and so does a path that is not a regular file (pipe
 * mode). log is borrowed. */
int reader_open(const char *path, const struct log *log, struct reader **out, struct fathom_error *err);
void reader_close(struct reader *reader);

/* A recording in progress, stored in memory. Its records go to the sink as they are appended, in time order as far as it is
 * known by then; after reader_finish() it is read like a file. events are copied; command: the result of reader_command(), may
 * be NULL; log is borrowed. -ENOTSUP as above; -ENOMEM. */
struct reader_live {
    const struct event *events;
    size_t count;
    const char *command;
    const struct log *log;
    order_sink *sink;
    void *context;
};
int reader_open_live(const struct reader_live *live, struct reader **out, struct fathom_error *err);
/* Appends whole raw records. Stops early if the sink returns a negative value, which is returned; the records stay appended.
 * -ENOMEM: they were not appended; -EINVAL: they are not whole. */
int reader_append(void *reader, const void *records, size_t size, struct fathom_error *err);
/* Delivers the records that are still queued. */
int reader_finish(struct reader *reader, struct fathom_error *err);

size_t reader_events(const struct reader *reader, const struct event **out);
/* The event to report: the one whose name begins with `name` or, for NULL, the first non-audit event that has
 * samples (the first one if none has); to find it, records are read up to its first sample. -ENOENT: no event
 * has that name. */
int reader_main_event(struct reader *reader, const char *name, uint32_t *event, struct fathom_error *err);
/* The number of the next event that can be reported, from `from` on; UINT32_MAX: none. */
uint32_t reader_next_event(const struct reader *reader, uint32_t from);
/* Uses this event instead of calling reader_main_event(). */
void reader_choose_event(struct reader *reader, uint32_t event);
/* The names of the other events that can be reported, separated by ", ", as far as they fit. "": none. */
void reader_other_events(const struct reader *reader, uint32_t event, char *out, size_t size);
/* The wall-clock time of a sample's time, ns since 1970. false: the recording does not have it. */
bool reader_wall_clock(const struct reader *reader, uint64_t time, uint64_t *wall);
/* How an event's samples were scaled: their periods are scaled already. NULL: not at all. */
const struct scaling *reader_scaling(const struct reader *reader, uint32_t event);
const char *reader_command(const struct reader *reader); /* the recorded command line; NULL: unknown */
/* The recorded machine, for writing a recording made from this one (chained.h). */
const struct host *reader_host(const struct reader *reader);
/* The formats of its tracepoints, as for writer_tracing_data(). NULL: none. */
const void *reader_tracing_data(const struct reader *reader, size_t *size);
/* Whether it was made by our recorder, and finished. */
bool reader_is_ours(const struct reader *reader);
/* Names of code made at run time, as passed to writer_code_names(). NULL: none. */
const void *reader_code_names(const struct reader *reader, size_t *size);
/* Sets them for a recording that has none, as it is live or not ours; they are copied. -ENOMEM. */
int reader_name_code(struct reader *reader, const void *data, size_t size, struct fathom_error *err);
/* Release of the recorded kernel ("6.1.0-28-amd64"); NULL: unknown. */
const char *reader_kernel(const struct reader *reader);

/* Delivers all records in time order; can be called again for another pass (input from a pipe is stored for this). Stops early
 * if the sink returns a negative value, which is returned. */
int reader_run(struct reader *reader, order_sink *sink, void *context, struct fathom_error *err);
/* Overrides what the recording says about the stacks of an event's samples (announced.h): by sample, from 0 in the order in
 * which reader_run() delivers them. Audit samples are then skipped, as a recording has one or the other. said: borrowed until
 * the reader is closed. */
struct stack_verdict {
    uint8_t known, compared; /* as in struct sample, like the next three */
    uint32_t stack_number, checks_number, stack_read;
};
void reader_set_stacks(struct reader *reader, uint32_t event, const struct stack_verdict *verdicts,
                       size_t count);
/* The build-id of a path's file from the recording's table; returns its size. 0: it has none, or several. */
uint8_t reader_build_id(const struct reader *reader, const char *path, uint8_t id[20]);
/* The summary of the last run. */
void reader_summary(const struct reader *reader, struct reader_summary *out);

#endif
