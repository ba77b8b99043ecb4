/*
 * collector.h - the kernel's side: launches or attaches, drains the ring buffers, hands raw records on.
 *
 * The records that a sink gets are whole, 8-byte aligned and as the kernel wrote them, but for two things:
 * stack dumps are cut to their valid bytes, and synthesised COMM, MMAP2 and FORK records stand at the start
 * for processes that already run. A LOST_SAMPLES record at the end tells the losses that the kernel counted
 * but wrote no record of. For each thread seen, an MMAP2 data mapping `[stack:TID]` tells its stack:
 * the mapping's end is the base.
 */
#ifndef FATHOM_COLLECTOR_COLLECTOR_H
#define FATHOM_COLLECTOR_COLLECTOR_H

#include <sys/types.h>

#include "base/log.h"
#include "collector/event.h"

struct collector;

/* How the main event is opened. By threads: a process or thread that starts begins with a whole period, so
 * that those that end sooner have no samples, however many they are. By CPUs: the period goes on across all
 * that runs there, and samples of others are dropped as they are drained; every program on these CPUs is
 * interrupted as often, and the kernel wants CAP_PERFMON (or kernel.perf_event_paranoid at 0). */
enum collector_scope {
    COLLECT_BY_THREAD,
    COLLECT_BY_CPU,
    COLLECT_BY_CPU_IF_ALLOWED, /* and the event is a clock of 1 kHz or less */
};

struct collector_options {
    struct event_options event; /* the main event */
    uint64_t audit_hz;          /* 0: no audit samples */
    uint32_t audit_stack_size;  /* bytes per dump */
    /* What to record: exactly one of the three. */
    char *const *command; /* NULL-terminated argv to launch */
    bool raised;          /* the command's rights change as it starts; only where we may trace it (root) */
    const pid_t *pids;    /* processes: all their threads, those to come, and their children */
    size_t pid_count;
    const pid_t *tids; /* these threads and what they start */
    size_t tid_count;
    enum collector_scope scope;
    size_t ring_bytes; /* per CPU; 0: chosen from the events. A power of two of pages */
    const struct log *log;
};

struct collector_summary {
    uint64_t samples, audit_samples;
    uint64_t lost, throttled;
    uint64_t bases_missing; /* threads with samples whose base was not found, mostly as they ended too soon */
};

/* A negative return stops the collection and is handed through. One or more whole records per call. */
typedef int collector_sink(void *context, const void *records, size_t size, struct fathom_error *err);

/* Opens the events; a command is forked and waits before its exec; one with `raised` behind it, as the kernel
 * ends the events on a process that gets other rights. Errors: -ENOENT no such event or command;
 * -ESRCH a PID that is gone; -EPERM, -EACCES not allowed (the sentence names perf_event_paranoid or the
 * owner); -EINVAL. options and what it points to are borrowed until collector_close(). */
int collector_open(const struct collector_options *options, struct collector **out, struct fathom_error *err);
size_t collector_events(const struct collector *collector, const struct event **out);
/* The formats of the tracepoints among the events, for stock perf (writer_tracing_data() in
 * perfdata/writer.h); malloc'ed, NULL and *size 0 where there is nothing to tell. */
int collector_tracing_data(const struct collector *collector, uint8_t **data, size_t *size,
                           struct fathom_error *err);
/* Starts: synthesised records go to the sink first, then the events (and the command) run. */
int collector_start(struct collector *collector, collector_sink *sink, void *context,
                    struct fathom_error *err);
/* Waits up to timeout_ms for records (less where stack bases of new threads must be looked for; a signal ends
 * the wait) and hands over what there is, closed by a FINISHED_ROUND record. Returns
 * 1 while something is left to record, 0 when the command or all processes have ended (one last
 * collector_stop() drains), negative on failure. */
int collector_poll(struct collector *collector, int timeout_ms, collector_sink *sink, void *context,
                   struct fathom_error *err);
/* Stops the events and drains what is left. */
int collector_stop(struct collector *collector, collector_sink *sink, void *context,
                   struct fathom_error *err);
/* The launched command's wait status (waitpid), -1 while it runs or when there is none. */
int collector_status(const struct collector *collector);
/* Sends a signal to the launched command; nothing when attached. */
void collector_signal(struct collector *collector, int signal);
void collector_summary(const struct collector *collector, struct collector_summary *out);
void collector_close(struct collector *collector); /* stops and frees; a launched command goes on */

#endif
