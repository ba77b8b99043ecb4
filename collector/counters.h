/*
 * counters.h - the events, opened for every thread on every CPU, and one ring buffer per CPU.
 *
 * An inherited event must be bound to a CPU to have a ring (kernel/events/core.c, perf_mmap), so there is one
 * file descriptor per thread, CPU and event; all of a CPU write into the ring of the CPU's first one. Events
 * whose attr does not say `inherit` are opened by CPU alone. The one that has `task` makes the rings.
 */
#ifndef FATHOM_COLLECTOR_COUNTERS_H
#define FATHOM_COLLECTOR_COUNTERS_H

#include <sys/types.h>

#include "base/log.h"
#include "collector/ring.h"
#include "perfdata/record.h"

struct counters;

/* events are borrowed; their ids are filled in here, and attr fields that this kernel does not know are
 * cleared. ring_bytes as in collector.h; 0: chosen. */
int counters_new(struct event *events, size_t count, size_t ring_bytes, const struct log *log,
                 struct counters **out, struct fathom_error *err);
void counters_free(struct counters *counters); /* the events' ids too */
/* Opens the events that are not inherited, once for each CPU and all that runs there, into the rings that the
 * first thread's events have made. -EACCES, -EPERM: not allowed. */
int counters_open_cpus(struct counters *counters, struct fathom_error *err);
/* Lets them count: by threads they begin with the exec (enable_on_exec). */
void counters_enable_cpus(struct counters *counters);
/* Opens all inherited events for one thread. -ESRCH: it is gone. late: the thread appeared after others of
 * its process were opened, so it may have inherited their events already (counters_settle). */
int counters_open(struct counters *counters, pid_t tid, bool late, struct fathom_error *err);
/* Late threads are watched (counters_unsettled): counters_settle() tells of a sample with this id from this
 * thread. When the id is another thread's, the late one has inherited events, and its own are stopped;
 * counters_twice() is then true for what these wrote. */
bool counters_unsettled(const struct counters *counters);
void counters_settle(struct counters *counters, uint64_t id, pid_t tid);
bool counters_twice(const struct counters *counters, uint64_t id, pid_t tid);
/* Starts or stops all events. */
void counters_enable(struct counters *counters);
void counters_disable(struct counters *counters);
/* Waits until a ring fills, a task ends or extra_fd (unless -1) is readable. An interruption by a signal
 * counts as the end of the wait. */
int counters_wait(struct counters *counters, int timeout_ms, struct fathom_error *err);
int counters_watch(struct counters *counters, int extra_fd, struct fathom_error *err);
/* Whether any opened task, or what it started, still runs. */
bool counters_alive(const struct counters *counters);
size_t counters_rings(const struct counters *counters, struct ring **out);
/* Records that the kernel had no room for, of all events so far (PERF_FORMAT_LOST, Linux 6.0): those that
 * PERF_RECORD_LOST tells, and those after which no record fitted that could have told it. What inherited
 * events lost is counted with the event that they came from (kernel/events/ring_buffer.c,
 * __perf_output_begin). 0 where the kernel does not count. */
uint64_t counters_lost(const struct counters *counters);
/* What an event counted in all threads, ended ones too; its times in ns: less running than enabled where
 * others had the counter. */
struct counters_totals {
    uint64_t value, enabled, running;
};
void counters_totals(const struct counters *counters, size_t event, struct counters_totals *out);
/* The index of the event that this sample id belongs to; the count of events when unknown. */
size_t counters_event(const struct counters *counters, uint64_t id);

#endif
