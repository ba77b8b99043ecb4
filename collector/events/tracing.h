/*
 * tracing.h - what stock perf needs to know about the tracepoints in a recording: their formats, as the
 * kernel describes them in tracefs.
 *
 * The bytes are those of the section HEADER_TRACING_DATA, which tools/perf/util/trace-event-info.c writes:
 *
 *   23 8 68 "tracing" "0.6\0" | u8 big-endian | u8 size of long | u32 page size
 *   "header_page\0" u64 size, file | "header_event\0" u64 size, file
 *   u32 0 (formats of ftrace) | u32 systems, each: name\0, u32 formats, each: u64 size, file
 *   u32 0 (kallsyms) | u32 0 (printk) | u64 0 (saved_cmdlines)
 */
#ifndef FATHOM_COLLECTOR_EVENTS_TRACING_H
#define FATHOM_COLLECTOR_EVENTS_TRACING_H

#include "perfdata/record.h"

/* For the tracepoints among the events. *data: malloc'ed; NULL and *size 0 if there are none or tracefs
 * cannot be read. 0 or -ENOMEM. */
int tracing_data(const struct event *events, size_t count, uint8_t **data, size_t *size,
                 struct fathom_error *err);

#endif
