/*
 * counters.h - the events, opened for every thread on every CPU, and one ring buffer per CPU.
 *
 * An inherited event must be bound to a CPU to have a ring (kernel/events/core.c, perf_mmap), so there is one
 * file descriptor per thread, CPU and event; all events of a CPU write into the ring of its first one. Events
 * whose attr does not have `inherit` are opened once per CPU. The event that has `task` makes the rings (a helper of it,
 * which is opened before).
 */
#ifndef FATHOM_COLLECTOR_RINGS_COUNTERS_H
#define FATHOM_COLLECTOR_RINGS_COUNTERS_H

#include <sys/types.h>

#include "base/log.h"
#include "collector/rings/ring.h"
#include "perfdata/record.h"

struct counters;

/* events are borrowed; their ids are filled in here, and attr fields that this kernel does not know are
 * cleared. ring_bytes as in collector.h; 0: chosen. */
int counters_new(struct event *events, size_t count, size_t ring_bytes, const struct log *log,
                 struct counters **out, struct fathom_error *err);
void counters_free(struct counters *counters); /* frees the events' ids too */
/* Attaches a BPF program (a descriptor, borrowed) to the events that are `followed` wherever they are opened from now on: at once, as
 * threads and children inherit it with the event. */
void counters_attach(struct counters *counters, int program);
/* From now on, events opened by CPU count only in a cgroup (a descriptor, borrowed), except those that are
 * `stacks` or report cgroups. filtered: those that are `followed` are not limited either, as their program
 * drops samples from outside: starting and stopping a clock at each switch into and out of the group takes
 * some 7 us. */
void counters_within(struct counters *counters, int cgroup, bool filtered);
/* Opens the events that are not inherited, once per CPU for everything that runs there. They write into the
 * rings that the first thread's events made, or make them if the event with `task` is one of them. -EACCES,
 * -EPERM: not allowed. The event of stack records is opened once more, in a way that wakes counters_wait() at
 * each record. */
int counters_open_cpus(struct counters *counters, struct fathom_error *err);
/* Starts the events that are open by CPU. (Those of a command's threads start at its exec, by
 * enable_on_exec.) */
void counters_enable_cpus(struct counters *counters);
/* Opens all inherited events for one thread. -ESRCH: it is gone. late: the thread appeared after events on
 * others of its process were opened, so it may have inherited theirs already (counters_settle()). */
int counters_open(struct counters *counters, pid_t tid, bool late, struct fathom_error *err);
/* A late thread may have its events twice: opened and inherited. While counters_unsettled() says that this is
 * unknown for some thread, call counters_settle() with each sample's id and thread. If the id belongs to
 * another thread's event, the late thread has inherited events: its own are stopped, and counters_twice() is
 * true for the samples that they wrote. */
bool counters_unsettled(const struct counters *counters);
void counters_settle(struct counters *counters, uint64_t id, pid_t tid);
bool counters_twice(const struct counters *counters, uint64_t id, pid_t tid);
/* Starts all events except those that are `switched`, or stops all. */
void counters_enable(struct counters *counters);
void counters_disable(struct counters *counters);
/* Waits until a ring fills, a task ends or the extra_fd of counters_watch() is readable. A signal
 * ends the wait without an error. */
int counters_wait(struct counters *counters, int timeout_ms, struct fathom_error *err);
int counters_watch(struct counters *counters, int extra_fd, struct fathom_error *err);
/* Whether a task that was opened, or one that it started, still runs. */
bool counters_alive(const struct counters *counters);
size_t counters_rings(const struct counters *counters, struct ring **out);
/* Records of all events so far that did not fit into a ring (PERF_FORMAT_LOST, Linux 6.0), whether or not a
 * PERF_RECORD_LOST fitted to say so. Losses of inherited events are counted with the event that they were
 * inherited from (kernel/events/ring_buffer.c, __perf_output_begin). 0 if the kernel does not count them. */
uint64_t counters_lost(const struct counters *counters);
/* What an event counted in all threads, including ended ones. enabled and running are in ns; running is less
 * while other events had the counter. */
struct counters_totals {
    uint64_t value, enabled, running;
};
void counters_totals(const struct counters *counters, size_t event, struct counters_totals *out);
/* Calls `use` for each descriptor of an event, with its CPU and whether its records wake counters_wait(), until it
 * returns a negative value, which is returned. */
int counters_each(const struct counters *counters, size_t event,
                  int (*use)(void *context, int fd, int cpu, bool wakes, struct fathom_error *err),
                  void *context, struct fathom_error *err);
/* Sets the period of an event. Threads that inherited it keep theirs; threads started from now on get the new
 * one (kernel/events/core.c, _perf_event_period, inherit_event). */
void counters_period(const struct counters *counters, size_t event, uint64_t period);
/* Gives each descriptor of an event another period near its own (vary.h). Returns how many there are. */
size_t counters_vary(struct counters *counters, size_t event);
/* Stops or starts an event in all threads, whether opened or inherited. */
void counters_switch(const struct counters *counters, size_t event, bool on);
size_t counters_ring_bytes(const struct counters *counters);
/* The index of the event that this sample id belongs to; the count of events when unknown. */
size_t counters_event(const struct counters *counters, uint64_t id);

#endif
