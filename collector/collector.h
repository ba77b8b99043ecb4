/*
 * collector.h - records events: launches a command or attaches to processes, drains the ring buffers, and
 * hands the raw records to a sink.
 *
 * Records are complete, 8-byte aligned and as the kernel wrote them, except that stack dumps are cut to their
 * valid bytes. The collector adds records of its own. At the start: COMM, MMAP2 and FORK for processes that
 * are already running, and CGROUP for control groups. For each thread seen: an MMAP2 data mapping
 * `[stack:TID]` that ends at the base of the stack. At the end: LOST_SAMPLES for losses that the kernel
 * counted without writing a record, and a READ with PID and TID 0 with the count of each requested event. The
 * event that only carries task records, if there is one, gets a READ too: it counts nothing, but its enabled
 * time is the CPU time of what is recorded.
 */
#ifndef FATHOM_COLLECTOR_COLLECTOR_H
#define FATHOM_COLLECTOR_COLLECTOR_H

#include <sys/types.h>

#include "base/log.h"
#include "collector/events/event.h"
#include "collector/events/trigger.h"
#include "collector/rings/batch.h"
#include "collector/verify/verify.h"

struct collector;

/* Requested events; stacks, or scripts; two clocks; triggers; task and cgroup events; waits and wakers. */
#define COLLECTOR_EVENTS (EVENT_PARSED + 8 + TRIGGER_EVENTS)
#define COLLECTOR_CLOCKS 2

/* How the main event is opened. By thread: each new thread starts with a full period, so a thread that ends
 * within it has no sample, however many such threads there are. By CPU: the period continues across
 * everything on that CPU, and samples of other processes are dropped when drained. Every program on the CPU
 * is then interrupted at that rate, and the kernel requires CAP_PERFMON (or kernel.perf_event_paranoid at 0
 * or less). */
enum collector_scope {
    COLLECT_BY_THREAD,
    COLLECT_BY_CPU,
    COLLECT_BY_CPU_IF_ALLOWED, /* by CPU if that is allowed and the event is a clock of 1 kHz or less */
};

struct collector_options {
    struct event_options event; /* the main event, and others (events_parse()) */
    uint64_t audit_hz;          /* 0: no audit samples */
    uint32_t audit_stack_size;  /* bytes per dump */
    bool audit_instead;         /* no audit samples if stacks are compared */
    bool audit_adapts;          /* the rate can be raised above audit_hz by collector_set_clock() */
    struct verify_options verify;
    bool waits;          /* record when threads are off CPU (waits.h), */
    bool wakers;         /* with who woke them, */
    bool waits_told;     /* reporting waits that have not ended, at most twice a second, */
    bool wall;           /* and reporting them together with a clock that is sampled */
    bool switched;       /* all events but the first are off until collector_switch() */
    const char *trigger; /* "EVENT:N", for collector_triggered(); NULL: none */
    /* Stock perf will unwind the stacks: it needs data mappings, as unwind tables can be mapped as data,
     * and call chains, to which it adds the unwound frames. */
    bool unwound_elsewhere;
    /* What to record: exactly one of these. With one of the first three a command can be launched too; the
     * recording ends when it does. */
    bool everyone;         /* all processes of the machine except this one; idle time is left out */
    const char *cgroup;    /* all processes of a control group and those below it: its path (cgroup.h) */
    const char *container; /* all processes of a container: its ID or name (container.h) */
    bool one_user;         /* all processes of one user, if the stacks of all events are compared */
    uid_t user;
    char *const *command;     /* NULL-terminated argv to launch */
    char *const *environment; /* environment of the command; NULL: inherited */
    bool raised;              /* the command changes its privileges at exec; only if we may trace it (root) */
    const pid_t *pids;        /* processes: all their present and future threads, and their children */
    size_t pid_count;
    const pid_t *tids; /* these threads, and the threads and processes that they start */
    size_t tid_count;
    bool no_children; /* only threads of the targets above, no child processes */
    enum collector_scope scope;
    size_t ring_bytes; /* per CPU; 0: chosen from the events. Must be a power of two of pages */
    const struct log *log;
};

struct collector_summary {
    uint64_t samples, audit_samples;
    uint64_t stacks_new;     /* copied, as no known stack matched */
    uint64_t stacks_crowded; /* new stacks not copied, as the rings were full */
    /* of precise samples, not compared because their function might have returned already */
    uint64_t stacks_returned;
    uint64_t lost, throttled;
    uint64_t bases_missing; /* threads with samples but without a known stack base: mostly short-lived ones */
};

/* Opens the events. A command is forked and held before its exec; one with `raised` is held after it, as the
 * kernel removes the events from a process that changes its privileges. Errors: -ENOENT: no such event or
 * command; -ESRCH: a PID is gone; -EPERM, -EACCES: not allowed (the message names perf_event_paranoid or the
 * owner); -EINVAL. options and what it points to are borrowed until collector_close(). */
int collector_open(const struct collector_options *options, struct collector **out, struct fathom_error *err);
size_t collector_events(const struct collector *collector, const struct event **out);
/* The formats of the events' tracepoints, for stock perf (writer_tracing_data() in perfdata/writer.h);
 * malloc'ed; NULL and *size 0 if there are none. */
int collector_tracing_data(const struct collector *collector, uint8_t **data, size_t *size,
                           struct fathom_error *err);
/* The BPF program that compares the events' stacks with known ones; NULL: none does. */
struct verify *collector_verify(const struct collector *collector);
/* Instead, the thread that polls interpreter frames; NULL: none does. */
struct script_poll;
struct script_poll *collector_polls(const struct collector *collector);
/* The clocks that take audit samples and have a rate that can be set (audit_adapts), one per dump size. */
struct collector_clock {
    uint32_t stack_size; /* bytes */
    double hz;           /* current setting; 0: stopped */
    double least, most;  /* Hz; least: of the options, 0 for extra clocks; most: the rings do not fill */
    uint64_t dumps;      /* samples so far */
};
/* Returns the number of clocks; 0: none, or the rate is fixed. */
size_t collector_clocks(const struct collector *collector, struct collector_clock out[COLLECTOR_CLOCKS]);
/* Seconds that the target ran while the clock was on. Interrupts every CPU on which the target runs. */
double collector_clock_time(const struct collector *collector, size_t clock);
/* Sets the samples per second of CPU time; 0 stops the clock. Threads that already run may stay at an older
 * nonzero rate (counters_period()). */
void collector_set_clock(struct collector *collector, size_t clock, double hz);
/* With `switched`: starts or stops all events but the first, in all threads. */
void collector_switch(const struct collector *collector, bool on);
/* With `trigger`: whether its event happened more than N times since the last call, or the start. */
bool collector_triggered(struct collector *collector);
/* Passes records about processes that already run to the sink, then starts the events and the command. */
int collector_start(struct collector *collector, collector_sink *sink, void *context,
                    struct fathom_error *err);
/* Waits up to timeout_ms for records (less if stack bases of new threads must be found; a signal ends the
 * wait), passes on what there is, and adds a FINISHED_ROUND record. Returns 1 while there is something to
 * record, 0 when the command or all processes have ended (collector_stop() then drains the rest), negative on
 * failure. */
int collector_poll(struct collector *collector, int timeout_ms, collector_sink *sink, void *context,
                   struct fathom_error *err);
/* Stops the events and drains what is left. */
int collector_stop(struct collector *collector, collector_sink *sink, void *context,
                   struct fathom_error *err);
/* The launched command's wait status (waitpid); -1 while it runs, or if there is none. */
int collector_status(const struct collector *collector);
/* The launched command's PID; 0: none. */
pid_t collector_command(const struct collector *collector);
/* Continues the recording of `from` in `to`: as soon as the events of `to` are started, those of `from` are
 * stopped. A command that `from` launched now belongs to `to`, whose options must include its PID. `from` is
 * borrowed until then. 0; negative: nothing has changed. */
int collector_hand_over(struct collector *from, struct collector *to, struct fathom_error *err);
/* Sends a signal to the launched command; does nothing if there is none. */
void collector_signal(struct collector *collector, int signal);
void collector_summary(const struct collector *collector, struct collector_summary *out);
/* Without any sample: the likely reason, as a clause. To be called before a launched command gets a
 * signal. */
bool collector_why_nothing(const struct collector *collector, char *text, size_t size);
/* With samples, but none of a process that used CPU time and still runs: a sentence that says so, and its
 * severity. After collector_stop(). */
bool collector_silent(const struct collector *collector, enum log_level *level, char *text, size_t size);
void collector_close(struct collector *collector); /* stops and frees; a launched command keeps running */

#endif
