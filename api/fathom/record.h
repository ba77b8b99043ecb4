/*
 * record.h - records a command or running processes into a standard perf.data file.
 *
 * Opening a recorder needs rights, running it only few: a privileged caller should give up the others in between.
 */
#ifndef FATHOM_RECORD_H
#define FATHOM_RECORD_H

#include "target.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_scope {
    FATHOM_SCOPE_AUTO, /* by CPU if that is allowed and the event is a clock of at most 1000 Hz, else by thread */
    FATHOM_SCOPE_THREAD, /* each new thread starts with a whole period */
    FATHOM_SCOPE_CPU, /* the period continues across threads, so that shorter processes are sampled too; needs CAP_PERFMON */
};

/* In which intervals, of each phase or of all, the events that are not always on are on (phases/sampling.h). */
enum fathom_interval_policy {
    FATHOM_INTERVAL_THIRD,
    FATHOM_INTERVAL_SECOND,
    FATHOM_INTERVAL_RANDOM,
    FATHOM_INTERVAL_PERIODIC, /* this and the next: of all intervals */
    FATHOM_INTERVAL_CHANCE,
};

/* Totals of a recording. */
struct fathom_recorder_summary {
    uint64_t samples;
    bool nothing; /* nothing was sampled, and the listener was warned; set once the run is over */
    int status;   /* wait status (waitpid(2)) of a launched command; -1: none, or it is still running */
};

#define FATHOM_AUDIT_DEFAULT UINT64_MAX

/* Pointers are borrowed until fathom_recorder_close(). 0 and NULL mean the default unless said otherwise. */
struct fathom_recorder_options {
    struct fathom_target target;
    /* Required: a file, which is replaced once there is something to write; an existing one is renamed to FILE.old. "-": a stream. */
    const char *output;
    /* Start another file (a part) once one has this many bytes, or after this many seconds, at least 1 MB or 1 s; both 0: one file. A
     * part's name is the output's with its start time in UTC: perf.data.20261127T190530Z. Each part is a complete recording, so its
     * stacks count as new again; what happens during a switch may be in both parts. Not for streams. */
#define FATHOM_PART_BYTES   (1u << 20)
#define FATHOM_PART_SECONDS 1
    uint64_t part_bytes;
    double part_seconds;
    /* Events after the first one are on only in some intervals of each phase. Phases are detected by the first event's samples while
     * recording. This is the length of an interval, in ms of a clock or in events; 0: all events are always on. */
    double phase_interval;
    enum fathom_interval_policy phase_policy;
    uint64_t phase_share;     /* one interval in this many, of a phase or of all; 0: FATHOM_PHASE_SHARE */
#define FATHOM_PHASE_SHARE 28 /* an error of 5% for regions of code: docs/benchmarks.md, "Phases" */
    /* With phase_interval, "EVENT:N": they are also on in an interval if this event happened more than N times in the one before. NULL:
     * none. */
    const char *trigger;
    /* With phase_interval: path of a socket for this user's commands (fathom-record(1)), which exists during the run. NULL: none. */
    const char *control;
    uint64_t
        parts_kept; /* number of parts to keep, including the current one; older ones are removed; 0: all */
    int stream;     /* if output is "-": the descriptor to write to; must not be a terminal */
    /* The command line that the recording states. */
    int argc; /* 0: none */
    char *const *argv;
    /* Stacks to read by a clock, per second of CPU time, instead of reading new stacks; 0: none. FATHOM_AUDIT_DEFAULT: 10 to 1000,
     * depending on how much is new, but only where stacks cannot be compared. */
    uint64_t audit_hz;
    uint64_t audit_stack; /* bytes of each; 0: 65528, the kernel's limit */
    uint64_t ring_kib;    /* ring buffer of each CPU, a power of two; 0: chosen from the event */
    enum fathom_scope scope;
    bool passive;    /* precise events in batches, without an interrupt for each; stacks are not compared */
    const char *map; /* a path map that the report of a passive recording will use: fewer stacks are read */
    bool kernel;     /* samples in the kernel too */
    bool data;       /* addresses of data (page faults, memory events) */
    bool stack_samples; /* write new stacks as samples that other tools can unwind */
    /* Also record the times in which threads have no CPU, as event "off-cpu", with the reason last on each path. Needs the BPF program. */
    bool off_cpu;
    /* The same, and who ended them, as event "wakers", whose paths continue with the waker's, the innermost function first. */
    bool wakers;
    /* The same, and all CPU time, in the kernel too, as event "wall-clock", which is reported if none is named. */
    bool wall;
    /* Sample allocations: mean number of bytes between two samples (524288 is usually good); 0: off. A launched command is sampled from
     * inside, as events "allocated" and "freed", in reports also "live" and "peak", beside `target.event` if there is one. For processes
     * given by PID the BPF program samples calls of their allocators, as "allocated" only; then it is at most UINT32_MAX. */
    uint64_t alloc_bytes;
    const char *alloc_runtime; /* libfathom-heap.so; NULL: searched for as by fathom_runtime_find() */
    bool
        java_map; /* at the end, ask each running HotSpot for its compiled code, with jcmd of JDK 17 or later */
    bool compress; /* compress the file's records with zstd */
    bool no_cache; /* store nothing for later recordings, and use nothing from earlier ones */
    bool
        keep_stacks; /* write the copies of new stacks too, not only what was found in them while recording */
    FATHOM_RESERVED;
};

/* Checks before recording that the events and the trigger exist, and that the map, if any, can be read. fathom_recorder_open() checks this
 * too, with the same errors. */
FATHOM_API int fathom_recorder_check(const struct fathom_recorder_options *options,
                                     struct fathom_error *error);

struct fathom_recorder;

/* Opens the output and the events, and forks the command, which waits. listener: borrowed until fathom_recorder_close(); NULL is
 * allowed. Errors: -ENOENT: no such event, command or map; -ESRCH: a process has ended; -EPERM, -EACCES: not allowed; -EINVAL: an
 * option; those of the output and the map. */
FATHOM_API int fathom_recorder_open(const struct fathom_recorder_options *options,
                                    const struct fathom_listener *listener, struct fathom_recorder **out,
                                    struct fathom_error *error);
/* Starts the command, records until it or all processes have ended, the duration is over or fathom_recorder_stop() is called, and
 * completes the file. Call it once. After an error the file holds what was recorded until then; it is not written before the first
 * sample. Unless no_cache is set, stacks that can be recognised wherever their files are mapped are stored for later recordings of the
 * same programs. The listener gets the progress at least 10 times a second, and at the end what the recording has and what it lacks. */
FATHOM_API int fathom_recorder_run(struct fathom_recorder *recorder, struct fathom_error *error);
/* Ends the run soon. */
FATHOM_API_AS_SAFE void fathom_recorder_stop(struct fathom_recorder *recorder);
enum fathom_control {
    FATHOM_CONTROL_AUTO, /* by the policy and the trigger: the initial state */
    FATHOM_CONTROL_ON,   /* in all intervals */
    FATHOM_CONTROL_OFF,  /* in none */
    FATHOM_CONTROL_ONCE, /* in the next interval, and then as before */
};
/* With phase_interval: sets when the events after the first one are on, from the next interval on. */
FATHOM_API_AS_SAFE void fathom_recorder_control(struct fathom_recorder *recorder,
                                                enum fathom_control control);
FATHOM_API void fathom_recorder_summary(const struct fathom_recorder *recorder,
                                        struct fathom_recorder_summary *summary);
/* After the run: adds the file's stacks to the cached maps of its programs, for later recordings. It does nothing for several files, for
 * a stream, with `no_cache`, or if $FATHOM_NO_CACHE is set. The listener is told of failures, a verbose one also how much was stored. */
FATHOM_API void fathom_recorder_keep(struct fathom_recorder *recorder);
/* NULL is allowed. */
FATHOM_API void fathom_recorder_close(struct fathom_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif
