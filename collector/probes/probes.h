/*
 * probes.h - events at functions and static markers of user programs, in a list of events:
 *
 *   uprobe:FILE:FUNCTION[+OFFSET]  at the function's entry, or OFFSET bytes after it; fields arg1 to arg6
 *   uretprobe:FILE:FUNCTION        where the function returns to its caller; field ret
 *   latency:FILE:FUNCTION          the duration of each call, from entry to leaving its frame: two events
 *                                  (perfdata/latency.h)
 *   heap:FILE:NAME                 at the markers of heap/runtime.c, FILE: events of perfdata/heap_event.h
 *   allocator:BYTES                at the functions of the processes' allocator (allocators.h), one sample in
 *                                  BYTES bytes: events of perfdata/heap_event.h
 *   usdt:FILE:PROVIDER:NAME        at markers in the source (image/markers.h); fields arg1, ..., as far as
 *                                  they can be read
 *
 * FUNCTION, PROVIDER and NAME may be patterns (fnmatch(3)). FILE: a path, or a name, which is looked up among
 * the files of the recorded processes, in PATH, and in library directories ("libc.so.6", "libc").
 *
 * Each is an event in tracefs while `struct probes` lives (uprobes.h), and is sampled like any tracepoint:
 * registers, PC and SP are those at the probe.
 */
#ifndef FATHOM_COLLECTOR_PROBES_PROBES_H
#define FATHOM_COLLECTOR_PROBES_PROBES_H

#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "perfdata/record.h"

struct probes;

/* names: a list of events (events_parse()), or NULL. define: make the events; else only check whether they
 * can be made, and put a clock in their places. Errors: -EINVAL, -ENOENT: no such file, function or marker,
 * or it cannot be probed; as uprobes_open(). */
int probes_new(const char *names, bool define, const pid_t *pids, size_t pid_count, const struct log *log,
               struct probes **out, struct fathom_error *err);
void probes_free(struct probes *probes); /* NULL is allowed. Close events on them before */
/* The list with these names replaced by the kernel's; NULL: there was no list. */
const char *probes_names(const struct probes *probes);
/* Renames these events to what the user wrote; event->tracepoint is then their name in tracefs, which lives
 * as long as `probes`. */
void probes_name_events(const struct probes *probes, struct event *events, size_t count);

#endif
