/*
 * trace.h - the file of a call trace: every call and return of some threads, in their order.
 *
 *     16 bytes   "FATHOM CALLS\n", version, two zeros
 *     blocks     u32 kind, u32 bytes, u64 checksum of the payload (checksum.h), the payload
 *
 * Little-endian; numbers in payloads are LEB128. A block of functions or places continues the numbering, which
 * begins at 0; so does one of events the thread of the last `thread` block. The last block, `end`, counts the events:
 * without it the file was cut short.
 *
 *     functions  image and name, NUL-terminated, and the address in the image, for each
 *     places     function and call site (its return address in the caller's image; 0: unknown), for each
 *     thread     process and thread ID
 *     events     (place * 4 + TRACE_ENTER), ticks since the thread's event before | (count * 4 + TRACE_EXIT)
 *                | (place * 4 + TRACE_RESUME): a frame of another stack that the thread goes on with
 *     end        u64 number of TRACE_ENTER events in the file
 */
#ifndef FATHOM_HCCT_TRACE_H
#define FATHOM_HCCT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TRACE_MAGIC     "FATHOM CALLS\n"
#define TRACE_VERSION   1
#define TRACE_HEAD      16u
#define TRACE_BLOCK_MAX (1u << 20) /* bytes of a payload */

enum trace_kind { TRACE_FUNCTIONS = 1, TRACE_PLACES, TRACE_THREAD, TRACE_EVENTS, TRACE_END };
enum trace_event_kind { TRACE_EXIT, TRACE_ENTER, TRACE_RESUME };

struct trace_function {
    const char *image, *name; /* the image's file; the symbol, "" if there is none */
    uint64_t address;         /* of the entry, in the image */
};

struct trace_place { /* a call: a function, and where it was called from */
    uint32_t function;
    uint64_t site;
};

struct trace_thread {
    uint32_t pid, tid;
    size_t first, end; /* its range of the events */
};

/* Writing: all functions return 0 or what file_write_all() does. ----------------------------------------- */

struct trace_writer;

/* Writes to fd, which stays the caller's; path is for messages. NULL: out of memory. */
struct trace_writer *trace_writer_new(int fd, const char *path);
int trace_write_function(struct trace_writer *writer, const struct trace_function *function,
                         struct fathom_error *err);
int trace_write_place(struct trace_writer *writer, struct trace_place place, struct fathom_error *err);
int trace_write_thread(struct trace_writer *writer, uint32_t pid, uint32_t tid, struct fathom_error *err);
/* value: the place, or how many frames have returned; ticks: only for TRACE_ENTER. */
int trace_write_event(struct trace_writer *writer, enum trace_event_kind kind, uint32_t value, uint64_t ticks,
                      struct fathom_error *err);
/* Writes what is buffered, and the end block. */
int trace_writer_end(struct trace_writer *writer, struct fathom_error *err);
void trace_writer_free(struct trace_writer *writer);

/* Reading ------------------------------------------------------------------------------------------------ */

#define TRACE_RETURN UINT32_MAX /* an event: the innermost function returns */
/* added to a place: the thread continues in it, and does not enter it */
#define TRACE_RESUMED    0x80000000u
#define TRACE_PLACES_MAX (1u << 30)

/* A whole trace in memory. Every number in it was checked, and no thread returns from more than it entered. */
struct trace {
    struct trace_function *functions;
    struct trace_place *places;
    struct trace_thread *threads;
    uint32_t *events; /* TRACE_RETURN; the place entered; or TRACE_RESUMED with a place */
    uint32_t *ticks;  /* by event: 0 for those that enter nothing */
    size_t function_count, place_count, thread_count, event_count;
    size_t entered; /* events that enter a function */
    struct arena *names;
};

/* Errors: system errors; -ENOMSG: not a trace; -ENOTSUP: of another version; -EBADMSG: damaged or cut short. */
int trace_read(const char *path, struct trace *out, struct fathom_error *err);
/* The same of bytes in memory; name is for messages. */
int trace_parse(const void *data, size_t size, const char *name, struct trace *out, struct fathom_error *err);
void trace_free(struct trace *trace);

#endif
