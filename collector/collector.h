/*
 * collector.h - records events: launches a command or attaches to processes, drains the ring buffers, and
 * hands the raw records to a sink.
 *
 * Records are whole, 8-byte aligned and as the kernel wrote them, except that stack dumps are cut to their
 * valid bytes. The collector adds records of its own: at the start COMM, MMAP2 and FORK for processes that
 * are already running, and CGROUP for control groups; for each thread seen, an MMAP2 data mapping `[stack:TID]`, whose end is the stack's
 * base; at the end, a LOST_SAMPLES for losses that the kernel counted but wrote no record of, and for each event that was
 * asked for a READ with PID and TID 0 that holds what it counted, and one for the event that only tells of tasks, if there is
 * one: it counts nothing, but is enabled for as long as what is followed had a CPU.
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

/* Those asked for; stacks, or scripts; two clocks; triggers; the ones for tasks and cgroups; waits and who ended them. */
#define COLLECTOR_EVENTS (EVENT_PARSED + 8 + TRIGGER_EVENTS)
#define COLLECTOR_CLOCKS 2

/* How the main event is opened. By thread: each new thread starts with a whole period, so one that ends within
 * it has no sample, however many such threads there are. By CPU: the period runs on across everything on that
 * CPU, and samples of other processes are dropped when drained. Then every program on the CPU is interrupted at
 * that rate, and the kernel requires CAP_PERFMON (or kernel.perf_event_paranoid at 0 or less). */
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
    bool audit_adapts;          /* at audit_hz and more: collector_set_clock() may be used */
    struct verify_options verify;
    bool waits;          /* the times in which threads have no CPU, too (waits.h), */
    bool wakers;         /* with who ended them, */
    bool waits_told;     /* also while they last, at most twice a second, */
    bool wall;           /* which are reported together with those of a clock that is sampled */
    bool switched;       /* events after the first one are off until collector_switch() */
    const char *trigger; /* "EVENT:N", of collector_triggered(); NULL: none */
    bool
        unwound_elsewhere; /* stock perf is to unwind the recording's stacks: it needs mappings of data, as unwind
                               tables are mapped so, and call chains, to which it adds */
    /* What to record: exactly one of these; with the first three, a command may be given too: it is launched, and its end is that of
     * the recording. */
    bool everyone; /* all processes of the machine, but this one; without the time in which a CPU is idle */
    const char *cgroup;    /* the same of a control group and those below it: its path (cgroup.h) */
    const char *container; /* or a container's: its ID or name (container.h) */
    bool one_user;         /* the same of one user, where stacks of all events are compared */
    uid_t user;
    char *const *command;     /* NULL-terminated argv to launch */
    char *const *environment; /* of the command; NULL: this process's */
    bool raised;       /* the command gets other rights at its exec; only where we may trace it (root) */
    const pid_t *pids; /* processes: all their present and future threads, and their children */
    size_t pid_count;
    const pid_t *tids; /* these threads, and the threads and processes that they start */
    size_t tid_count;
    bool no_children; /* only threads of what is named here, not the processes that these started or start */
    enum collector_scope scope;
    size_t ring_bytes; /* per CPU; 0: chosen from the events. A power of two of pages */
    const struct log *log;
};

struct collector_summary {
    uint64_t samples, audit_samples;
    uint64_t stacks_new;     /* copied, as none that was known fits */
    uint64_t stacks_crowded; /* such ones that were not read, as the rings had no room for them */
    uint64_t
        stacks_returned; /* of precise samples, not compared as their function may have returned by then */
    uint64_t lost, throttled;
    uint64_t bases_missing; /* threads with samples but no known base: mostly those that ended early */
};

/* Opens the events. A command is forked and waits before its exec; one with `raised` waits after it, as the
 * kernel removes the events from a process that gets other rights. Errors: -ENOENT: no such event or command;
 * -ESRCH: a PID is gone; -EPERM, -EACCES: not allowed (the message names perf_event_paranoid or the owner);
 * -EINVAL. options and what it points to are borrowed until collector_close(). */
int collector_open(const struct collector_options *options, struct collector **out, struct fathom_error *err);
size_t collector_events(const struct collector *collector, const struct event **out);
/* The formats of the tracepoints among the events, for stock perf (writer_tracing_data() in
 * perfdata/writer.h); malloc'ed; NULL and *size 0 if there are none. */
int collector_tracing_data(const struct collector *collector, uint8_t **data, size_t *size,
                           struct fathom_error *err);
/* Whether a BPF program compares the event's stacks with those that collector_know() was told (verify.h). */
bool collector_follows(const struct collector *collector);
/* Whether what interpreters run is read by a thread instead, of processes that collector_script() told (script_poll.h). */
bool collector_polls(const struct collector *collector);
/* All that follow, to collector_retract(), may be called by one other thread. */
bool collector_finds_files(const struct collector *collector); /* verify_finds_files() */
int collector_know(struct collector *collector, const struct known_stack *stack, struct fathom_error *err);
bool collector_stacks_are(struct collector *collector, uint32_t space, const struct go_stacks *go,
                          uint64_t bias);
void collector_place(struct collector *collector, uint32_t pid, uint32_t space);
void collector_number(struct collector *collector, const struct stack_file *file, uint32_t number);
bool collector_rows(struct collector *collector, const struct code_rows_key *key,
                    const struct code_rows *rows);
void collector_script(struct collector *collector, uint32_t pid, const struct script_runtime *script,
                      uint64_t state); /* verify_script(), or script_poll_process() */
/* What the program that follows sees by itself: a process with an interpreter forks. */
void collector_script_fork(struct collector *collector, uint32_t parent, uint32_t child);
void collector_script_file(struct collector *collector, uint32_t number, const struct script_runtime *script,
                           uint64_t state);
void collector_forget(struct collector *collector, uint32_t space);
void collector_retract(struct collector *collector, uint32_t number); /* verify_retract() */
/* The clocks that take audit samples, if their rates can be set (audit_adapts), by the size of their dumps. */
struct collector_clock {
    uint32_t stack_size; /* bytes */
    double hz;           /* as it was set; 0: stopped */
    double least, most;  /* Hz; least: as the options say, 0 for those besides; most: not to fill the rings */
    uint64_t dumps;      /* samples so far */
};
/* Returns their number; 0: none, or the rate is fixed. */
size_t collector_clocks(const struct collector *collector, struct collector_clock out[COLLECTOR_CLOCKS]);
/* s that the target ran while the clock was on. Interrupts every CPU on which it runs. */
double collector_clock_time(const struct collector *collector, size_t clock);
/* Samples per second of CPU time from now on; 0 stops the clock. Threads that were started before keep an older rate,
 * other than 0 (counters_period()). */
void collector_set_clock(struct collector *collector, size_t clock, double hz);
/* Of `switched`: starts or stops the events after the first one, in all threads. */
void collector_switch(const struct collector *collector, bool on);
/* Of `trigger`: whether its event happened more than N times since the last call, or the start. */
bool collector_triggered(struct collector *collector);
/* Passes the records of already running processes to the sink, then starts the events and the command. */
int collector_start(struct collector *collector, collector_sink *sink, void *context,
                    struct fathom_error *err);
/* Waits up to timeout_ms for records (less if the stack bases of new threads must be found; a signal ends the
 * wait) and hands over what there is, followed by a FINISHED_ROUND record. Returns 1 while something is left to
 * record, 0 when the command or all processes have ended (collector_stop() then drains the rest), negative on
 * failure. */
int collector_poll(struct collector *collector, int timeout_ms, collector_sink *sink, void *context,
                   struct fathom_error *err);
/* Stops the events and drains what is left. */
int collector_stop(struct collector *collector, collector_sink *sink, void *context,
                   struct fathom_error *err);
/* The launched command's wait status (waitpid); -1 while it runs, or if there is none. */
int collector_status(const struct collector *collector);
/* Its PID; 0: there is none. */
pid_t collector_command(const struct collector *collector);
/* `to` goes on with what `from` records: as soon as its events are started, those of `from` are stopped. A command that `from` launched
 * is that of `to` from now on, whose options have its PID or more than that. `from`: borrowed until then. 0; negative: nothing has changed. */
int collector_hand_over(struct collector *from, struct collector *to, struct fathom_error *err);
/* Sends a signal to the launched command; nothing when attached. */
void collector_signal(struct collector *collector, int signal);
void collector_summary(const struct collector *collector, struct collector_summary *out);
/* If nothing was sampled: the likely reason, a clause. Before a launched command gets a signal. */
bool collector_why_nothing(const struct collector *collector, char *text, size_t size);
/* If something was, but not of a process that used CPU time and still runs: the sentence that says so, and how grave it
 * is. After collector_stop(). */
bool collector_silent(const struct collector *collector, enum log_level *level, char *text, size_t size);
void collector_close(struct collector *collector); /* stops and frees; a launched command runs on */

#endif
