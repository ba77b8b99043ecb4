/*
 * record.h - records a command or running processes into a standard perf.data file.
 *
 * Rights are needed to open a recorder, and few to run it: a caller with many gives up the others between the two.
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
    FATHOM_SCOPE_CPU, /* the period runs on, so that processes shorter than it are sampled too; needs CAP_PERFMON */
};

/* Which intervals events that are not always on are on in: of each phase, or of all (phases/sampling.h). */
enum fathom_interval_policy {
    FATHOM_INTERVAL_THIRD,
    FATHOM_INTERVAL_SECOND,
    FATHOM_INTERVAL_RANDOM,
    FATHOM_INTERVAL_PERIODIC, /* of all, from here on */
    FATHOM_INTERVAL_CHANCE,
};

/* What was recorded in all. */
struct fathom_recorder_summary {
    uint64_t samples;
    bool nothing; /* was sampled, which the listener was told; once the run is over */
    int status;   /* of a launched command, as of waitpid(2); -1: there is none, or it runs still */
};

#define FATHOM_AUDIT_DEFAULT UINT64_MAX

/* Pointers are borrowed until fathom_recorder_close(). What is 0 or NULL has its default unless it says otherwise. */
struct fathom_recorder_options {
    struct fathom_target target;
    /* To be given: a file, which is replaced once there is something to write; the old one is kept as FILE.old. "-": a stream. */
    const char *output;
    /* Go on in another file once one has so many bytes, or was begun so many seconds ago; 0 of both: there is one file. Their names are
     * the output's with the time in UTC at which each is begun: perf.data.20261127T190530Z. Each is a recording of its own, by which
     * its stacks are new again; what happens while one takes over may be in both. At least 1 MB or 1 s. Not of a stream. */
#define FATHOM_PART_BYTES   (1u << 20)
#define FATHOM_PART_SECONDS 1
    uint64_t part_bytes;
    double part_seconds;
    /* Events after the first one are on in some intervals only: of each phase, which the first one's samples tell while they are
     * recorded, in intervals of so many ms of a clock, or events. 0: all events are always on. */
    double phase_interval;
    enum fathom_interval_policy phase_policy;
    uint64_t phase_share;     /* one in so many intervals, of a phase or of all; 0: FATHOM_PHASE_SHARE */
#define FATHOM_PHASE_SHARE 28 /* an error of 5% for regions of code: docs/benchmarks.md, "Phases" */
    /* With phase_interval, "EVENT:N": they are on in an interval, too, if this event happened more often than N times in the one
     * before. NULL: none. */
    const char *trigger;
    /* With phase_interval: where to make a socket for this user's commands (fathom-record(1)), which goes when the run ends. NULL: none. */
    const char *control;
    uint64_t parts_kept; /* at a time, the growing one among them: then the oldest is removed; 0: all */
    int stream;          /* if output is "-": the descriptor that is written to, which must be no terminal */
    /* A command line for the recording to name. */
    int argc; /* 0: none */
    char *const *argv;
    /* Stacks read by a clock in place of new ones: so many per second of CPU time; 0: none. FATHOM_AUDIT_DEFAULT: only where
     * stacks cannot be compared, 10 to 1000, by how much is new. */
    uint64_t audit_hz;
    uint64_t audit_stack; /* bytes of each; 0: 65528, the most that the kernel copies */
    uint64_t ring_kib;    /* ring buffer of each CPU, a power of two; 0: chosen from the event */
    enum fathom_scope scope;
    bool passive;    /* precise events in batches, without an interrupt for each; stacks are not compared */
    const char *map; /* a path map that a report of a passive recording will take: fewer stacks are read */
    bool kernel;     /* samples in the kernel too */
    bool data;       /* addresses of data (page faults, memory events) */
    bool stack_samples; /* new stacks as samples that other tools unwind */
    /* The times in which threads have no CPU, too: in an event "off-cpu", with the reason last on each path; needs the BPF program. */
    bool off_cpu;
    /* Likewise, with who ended them: an event "wakers", whose paths go on with the waker's, the innermost function first. */
    bool wakers;
    /* Likewise, and all CPU time, in the kernel too: the event "wall-clock", of both, is reported where none is named. */
    bool wall;
    /* A command's allocations, sampled in it: the mean bytes between two samples (524288 tells enough), as events "allocated" and
     * "freed", and for reports "live" and "peak"; 0: not. Beside them `target.event`, if there is one. Of processes by their numbers "allocated" alone,
     * sampled by the BPF program where their allocators are entered: at most UINT32_MAX. */
    uint64_t alloc_bytes;
    const char *alloc_runtime; /* libfathom-heap.so; NULL: looked for as that of fathom_runtime_find() */
    bool java_map; /* ask each HotSpot that runs at the end, by jcmd of JDK 17 or later, what code it made */
    bool compress; /* the file's records, with zstd */
    bool no_cache; /* keep nothing for later recordings, and use nothing that earlier ones kept */
    bool keep_stacks; /* the copies of new stacks, too, not only what was found in them while recording */
    FATHOM_RESERVED;
};

/* What can be told before: whether there are such events and such a trigger, and the map, if there is one, can be read. fathom_recorder_open() tells it,
 * too, with the same errors. */
FATHOM_API int fathom_recorder_check(const struct fathom_recorder_options *options,
                                     struct fathom_error *error);

struct fathom_recorder;

/* Opens the output and the events, and forks the command, which waits. listener: borrowed until fathom_recorder_close(); NULL is
 * allowed. Errors: -ENOENT: no such event, command or map; -ESRCH: a process is gone; -EPERM, -EACCES: not allowed; -EINVAL: an
 * option; those of the output and the map. */
FATHOM_API int fathom_recorder_open(const struct fathom_recorder_options *options,
                                    const struct fathom_listener *listener, struct fathom_recorder **out,
                                    struct fathom_error *error);
/* Starts the command, records until it or all processes have ended, the duration is over or fathom_recorder_stop() is called, and
 * completes the file. To be called once. After an error the file holds what was recorded; before the first sample it is not
 * written. Unless nothing is to be kept, stacks that are known wherever their files are mapped become known to later recordings of the same
 * programs. The listener is told how far it is, at least 10 times a second, and then what the recording has, and what it lacks. */
FATHOM_API int fathom_recorder_run(struct fathom_recorder *recorder, struct fathom_error *error);
/* Ends the run soon. */
FATHOM_API_AS_SAFE void fathom_recorder_stop(struct fathom_recorder *recorder);
enum fathom_control {
    FATHOM_CONTROL_AUTO, /* as the policy and the trigger say, which is the case at first */
    FATHOM_CONTROL_ON,   /* in all intervals */
    FATHOM_CONTROL_OFF,  /* in none */
    FATHOM_CONTROL_ONCE, /* in the next interval, and then as before */
};
/* With phase_interval: when the events after the first one are on, from the next interval on. */
FATHOM_API_AS_SAFE void fathom_recorder_control(struct fathom_recorder *recorder,
                                                enum fathom_control control);
FATHOM_API void fathom_recorder_summary(const struct fathom_recorder *recorder,
                                        struct fathom_recorder_summary *summary);
/* After the run: adds the stacks of the file (of several files, nothing) to the maps that are kept of its programs, for recordings to come; nothing of a stream,
 * with `no_cache`, or if $FATHOM_NO_CACHE is set. Failures are told to the listener, and to a verbose one how much is kept. */
FATHOM_API void fathom_recorder_keep(struct fathom_recorder *recorder);
/* NULL is allowed. */
FATHOM_API void fathom_recorder_close(struct fathom_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif
