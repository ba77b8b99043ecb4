/*
 * head.h - private to perfdata/: a recording's metadata: events with names and IDs, architecture, command line, compression;
 * from the sections of a file or the records of a pipe.
 */
#ifndef FATHOM_PERFDATA_HEAD_H
#define FATHOM_PERFDATA_HEAD_H

#include "base/hash.h"
#include "perfdata/build_ids.h"
#include "perfdata/format.h"
#include "perfdata/host.h"
#include "perfdata/input.h"
#include "perfdata/record.h"
#include "perfdata/trailer.h"

struct head {
    struct event *events;
    size_t count, capacity;
    size_t id_total;     /* of all events: never more than the file has space for */
    struct table *by_id; /* ID -> index of its event */
    char *command;       /* NULL: unknown */
    struct host host;    /* the recorded machine */
    void *tracing;       /* formats of tracepoints; NULL: none */
    size_t tracing_size;
    struct build_ids build_ids;    /* by path */
    uint64_t records, records_end; /* where the records are: bytes from the start */
    uint32_t mmap_size;            /* the most that a compressed record contains; 0: unknown */
    struct trailer trailer;        /* Fathom's own */
    bool pipe;
    bool truncated; /* there are fewer records than the header says, or the writer did not finish */
};

/* Errors as in reader_open(); the message names `path`. */
int head_read(struct head *head, struct input *input, const char *path, struct fathom_error *err);
/* The head of a recording that this machine is making: events and command (may be NULL) are copied. -ENOMEM. *head has to be
 * freed even on failure. */
int head_copy(struct head *head, const struct event *events, size_t count, const char *command,
              struct fathom_error *err);
void head_free(struct head *head);

/* A record with perf's own framing. */
struct head_record {
    const uint8_t *data; /* valid as for input_take() */
    uint64_t step;       /* bytes including the payload that follows it; 0: damaged or truncated */
    uint32_t type, size; /* as in its header */
};

/* Whether one of its events has stack records (stack_record.h). */
bool head_has_stacks(const struct head *head);

/* Reads the record at an offset of the input, which ends at `end`. Errors as for input_take(). */
int head_next(const struct head *head, struct input *input, uint64_t at, uint64_t end,
              struct head_record *out, struct fathom_error *err);

/* Makes a name for an event without one in the recording: "cpu-clock:u". */
void event_default_name(const struct perf_event_attr *attr, char *out, size_t size);

#endif
