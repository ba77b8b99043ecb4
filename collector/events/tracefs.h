/*
 * tracefs.h - the kernel's tracing file system (Documentation/trace/ftrace.rst), which has the numbers and
 * formats of tracepoints, and where uprobes are created.
 *
 * Looked up where tracefs is mounted, else, if mounting is permitted, in a detached mount of our own.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_TRACEFS_H
#define FATHOM_COLLECTOR_EVENTS_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

/* Opens a file. A descriptor (close-on-exec), or a negative errno. */
int tracefs_open(const char *path, int flags);
/* A file, such as "events/sched/sched_switch/format", as a string of *size bytes; the caller frees. 0 or a
 * negative errno; -EFBIG: larger than any file there should be. */
int tracefs_read(const char *path, char **text, size_t *size);
/* The number in a file such as "events/sched/sched_switch/id". 0 or a negative errno. */
int tracefs_number(const char *path, uint64_t *value);

#endif
