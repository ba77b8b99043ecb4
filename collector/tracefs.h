/*
 * tracefs.h - reads the kernel's tracing file system (Documentation/trace/ftrace.rst), where tracepoints have
 * their numbers.
 */
#ifndef FATHOM_COLLECTOR_TRACEFS_H
#define FATHOM_COLLECTOR_TRACEFS_H

#include <stdint.h>

/* The number in a file such as "events/sched/sched_switch/id". Looked for where tracefs is mounted, else,
 * with the right to mount, in a mount of our own that is attached nowhere. 0 or a negative errno. */
int tracefs_number(const char *path, uint64_t *value);

#endif
