/*
 * probes.h - events at functions and static markers of user programs, in a list of events:
 *
 *   uprobe:FILE:FUNCTION[+OFFSET]   where the function is entered, or OFFSET bytes behind; fields arg1 to arg6
 *   uretprobe:FILE:FUNCTION         where it returns to its caller; field ret
 *   latency:FILE:FUNCTION           how long each call takes, from there to where it leaves its frame: two events (perfdata/latency.h)
 *   heap:FILE:NAME                  at those of heap/runtime.c, FILE: events of perfdata/heap_event.h
 *   allocator:BYTES                 where the functions of the processes' allocator are entered (allocators.h), one in so many bytes: likewise
 *   usdt:FILE:PROVIDER:NAME         at the markers that the source has (image/markers.h); fields arg1, ..., as far as they can be read
 *
 * FUNCTION, PROVIDER and NAME may be patterns (fnmatch(3)). FILE: a path, or a name, which is looked for among the files of the
 * processes that are recorded, in PATH, and in the directories of libraries ("libc.so.6", "libc").
 *
 * Each is an event of tracefs as long as this lives (uprobes.h), of which samples are taken as of any tracepoint: registers, PC and SP
 * are those at the probe.
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
