/*
 * report.h - reports of a recording: its hot calling contexts in one of many formats, its samples one by one, or a function's code with
 * its samples.
 */
#ifndef FATHOM_REPORT_H
#define FATHOM_REPORT_H

#include <sys/types.h>

#include "contexts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of options; the first of each list is the default. */
FATHOM_API extern const struct fathom_word fathom_metrics[FATHOM_WORDS];
FATHOM_API extern const struct fathom_word fathom_views[FATHOM_WORDS];
FATHOM_API extern const struct fathom_word fathom_report_formats[FATHOM_WORDS];

/* Which samples count: those that match every member that is set. Texts are POSIX extended regular expressions, separated by commas, one
 * of which must match anywhere in a name. Zeros: all samples. */
struct fathom_filter {
    const pid_t *pids, *tids;
    size_t pid_count, tid_count; /* 0: any */
    const char *comm;            /* the thread's name; NULL: any */
    double from, to;             /* s since the first sample; to = 0: no end */
    const char *focus, *ignore;  /* a function that must, or must not, be on the path; NULL: any, none */
    const char *symbol, *image;  /* the innermost function, the name of its file; NULL: any */
    FATHOM_RESERVED;
};

/* What two intervals of the same phase have in common. */
enum fathom_phase_kind {
    FATHOM_PHASE_CONTEXTS,  /* calling contexts */
    FATHOM_PHASE_FUNCTIONS, /* the functions that ran */
    FATHOM_PHASE_REGIONS    /* 64 bytes of code each */
};

/* Which interval of a phase represents it. */
enum fathom_phase_policy {
    FATHOM_PHASE_CENTROID, /* the one nearest to the phase's mean */
    FATHOM_PHASE_FIRST,
    FATHOM_PHASE_THIRD,
    FATHOM_PHASE_RANDOM
};

/* How a recording is divided into intervals of equal work, and these into phases. Zeros: the defaults. */
struct fathom_phases {
    enum fathom_phase_kind kind;
    double interval;  /* events, or ms of a clock; 0: 200 samples, and at most 600 intervals */
    double threshold; /* maximum distance between intervals of a phase, 0 to 1; 0: 0.25 */
    enum fathom_phase_policy policy;
};

/* Which path gets the weight of a sample that has several possible paths. */
enum fathom_ambiguity {
    FATHOM_AMBIGUOUS_LIKELY, /* the frames that are at least 50% sure, then "[one of 3 paths]" */
    FATHOM_AMBIGUOUS_BEST,   /* the most probable path */
    FATHOM_AMBIGUOUS_SPLIT,  /* each path, by its probability */
    FATHOM_AMBIGUOUS_COMMON  /* the frames that they have in common */
};

#define FATHOM_WAKERS_MOST 16

/* How samples become contexts. Call fathom_report_defaults() first. */
struct fathom_profile_options {
    const char *map;    /* a path map file; NULL: none */
    const char *event;  /* which one of several events; NULL: the main one */
    const char *metric; /* the weight of contexts: one of fathom_metrics; NULL: the default */
    const char *symfs;  /* root directory of programs, libraries and debug files; NULL: "/" */
    bool no_cache;      /* do not use what other recordings of the same programs learned */
    bool no_audit;      /* do not use the recording's own stacks */
    bool no_automaton;  /* leave contexts that training never saw unknown */
    bool no_temporal;   /* infer each sample by itself, ignoring what its thread did before and after */
    bool no_em;         /* do not learn path frequencies from ambiguous samples */
    struct fathom_filter filter;
    struct fathom_phases phases;
    const int *phase;   /* numbers of phases: of the samples that the other options select, */
    size_t phase_count; /* only those in these phases count; 0: all */
    /* Levels above the functions, the outermost first, separated by commas: "cgroup", "container", "service", "exe", "comm", "pid", "tid"
     * and "state"; NULL: none. -ENOENT if the recording has no cgroups. */
    const char *by;
    bool process_tree; /* below these levels, the chain of programs that started the sample's program */
    bool threads;      /* each thread is a root, below these levels */
    bool lines;        /* show source lines, of callers too */
    bool native,
        script; /* if only one is set, paths with interpreted functions show only machine code, or only those functions */
    /* For waits: length of the chain of wakers that is added after their paths, at most FATHOM_WAKERS_MOST. 0: 1 for event "wakers".
     * -ENOENT if the recording has no wakers. */
    uint64_t wakers;
    bool data; /* paths end in the memory that was accessed; -ENOENT if the recording has no addresses */
    uint64_t
        inline_most; /* limit of debug information to read for inlined functions, KiB; 0: they are not shown;
                             UINT64_MAX: no limit */
    enum fathom_ambiguity ambiguous;
    double min_confidence; /* contexts with a lower probability (0 to 1) count as unknown */
    double phi; /* not 0: only contexts with at least this fraction of the weight, in bounded memory */
    double eps; /* with phi: the allowed error, as a fraction of the weight; below phi. 0: phi / 5 */
    enum fathom_counter counter;
    FATHOM_RESERVED;
};

/* How format "perf" shows how certain a path is. (It also writes OUTPUT.functions if there are interpreted functions.) */
enum fathom_certainty_shown {
    FATHOM_CERTAINTY_WEIGHT, /* in percent, as the sample's weight */
    FATHOM_CERTAINTY_FRAME /* and as an outermost frame "[inferred]" or "[unknown context]", whose file is OUTPUT.certainty */
};

#define FATHOM_SCRIPT_FIELDS "comm,tid,time,weight,sure,path"

struct fathom_store_selection; /* store.h */

/* Texts and lists are borrowed until fathom_report_close(). Call fathom_report_defaults() first. */
struct fathom_report_options {
    const char *recording; /* a perf.data file, an archive of `fathom archive`, or "-": standard input */
    /* Report batches of a store in place of a recording; NULL: the recording. Options that concern single samples are then -EINVAL. */
    const struct fathom_store_selection *store;
    /* The file to write, which is replaced once the output is complete; "-": standard output. NULL: the stream given to
     * fathom_report_write(). */
    const char *output;
    /* One of fathom_report_formats; or "script": a line for each sample; "annotate": a function's code; "phases", "phases-json": the
     * phases over time. NULL: the default. */
    const char *format;
    const char *view;   /* one of fathom_views; NULL: the default */
    const char *fields; /* for "script"; NULL: FATHOM_SCRIPT_FIELDS */
    const char *function,
        *path; /* for "annotate": a name or regular expression; the end of the paths whose samples
                                    count, "main;run;FUNCTION", or NULL */
    enum fathom_certainty_shown certainty;
    struct fathom_profile_options profile;
    double min_percent; /* leave out rows that weigh less */
    uint64_t rows;      /* maximum number of rows, the hottest first; 0: all */
    uint64_t listed;    /* for format "html": number of functions whose code the page includes */
    size_t width;       /* columns of a line, to which long names are shortened; 0: unlimited */
    bool confidence;    /* show how certain each row is, even if all are */
    bool colour;
    bool verbose;  /* show the full heading */
    bool terminal; /* the stream is a terminal: formats that are not text are refused, -ENOTTY */
    FATHOM_RESERVED;
};

struct fathom_report;

FATHOM_API void fathom_report_defaults(struct fathom_report_options *options);
/* Checks the options by themselves, without any file: -EINVAL. */
FATHOM_API int fathom_report_check(const struct fathom_report_options *options, struct fathom_error *error);
/* Checks the options and opens everything that may need rights: the output and the kernel's symbols. An archive is unpacked into a new
 * directory in $TMPDIR or /var/tmp, which a child process removes when the caller ends: call this before other threads exist.
 * listener: may be NULL; borrowed until fathom_report_close(). Errors: -EINVAL, also if the output would overwrite an input; file
 * errors. */
FATHOM_API_MT_UNSAFE int fathom_report_open(const struct fathom_report_options *options,
                                            const struct fathom_listener *listener,
                                            struct fathom_report **out, struct fathom_error *error);
/* What the calls below write, apart from a stream. */
FATHOM_API const struct fathom_writing *fathom_report_writing(const struct fathom_report *report);
/* Reads the recording and infers its contexts. Call it once. Errors: file errors; -ENOMSG, -EBADMSG, -ENOTSUP: not a recording or map,
 * damaged, unsupported format; -ENOENT: it lacks the event, or something that an option needs; -ERANGE: the counter is too coarse for
 * phi; -ENOMEM. */
FATHOM_API int fathom_report_run(struct fathom_report *report, struct fathom_error *error);
/* Writes the report to its output, or else to this stream. Call it once, after fathom_report_run(). A report without samples is written
 * with a warning. */
FATHOM_API int fathom_report_write(struct fathom_report *report, FILE *stream, struct fathom_error *error);
/* After fathom_report_run(): in which respects the report is incomplete. */
enum fathom_report_lack {
    FATHOM_REPORT_STALE = 1, /* files of another build were found, and could not be used */
    FATHOM_REPORT_EMPTY = 2  /* there are samples, but the options exclude them all */
};
FATHOM_API unsigned fathom_report_lacks(const struct fathom_report *report);
/* NULL is allowed. An output that was not written is left unchanged. */
FATHOM_API void fathom_report_close(struct fathom_report *report);

#ifdef __cplusplus
}
#endif

#endif
