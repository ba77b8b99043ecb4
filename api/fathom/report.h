/*
 * report.h - reports of a recording: its hot calling contexts in one of many formats, its samples one by one, or the code of a
 * function with its samples.
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

/* Which samples count: those for which all that is given holds. Texts are POSIX extended regular expressions that match
 * anywhere in a name, or several with commas between, of which one must. Zeros: all samples. */
struct fathom_filter {
    const pid_t *pids, *tids;
    size_t pid_count, tid_count; /* 0: any */
    const char *comm;            /* the thread's name; NULL: any */
    double from, to;             /* s since the first sample; to = 0: no end */
    const char *focus, *ignore;  /* a function that is, or is not, on the path; NULL: any, none */
    const char *symbol, *image;  /* the innermost function, its file's name; NULL: any */
    FATHOM_RESERVED;
};

/* What two intervals of a recording have in common if they are of one phase. */
enum fathom_phase_kind {
    FATHOM_PHASE_CONTEXTS,  /* calling contexts */
    FATHOM_PHASE_FUNCTIONS, /* the functions that ran */
    FATHOM_PHASE_REGIONS    /* 64 bytes of code each */
};

/* Which interval of a phase represents it. */
enum fathom_phase_policy {
    FATHOM_PHASE_CENTROID, /* the nearest to the mean of them all */
    FATHOM_PHASE_FIRST,
    FATHOM_PHASE_THIRD,
    FATHOM_PHASE_RANDOM
};

/* How a recording is cut into intervals of equal work, and these told apart. Zeros: the defaults. */
struct fathom_phases {
    enum fathom_phase_kind kind;
    double interval;  /* events, or ms of a clock; 0: 200 samples, and at most 600 intervals */
    double threshold; /* intervals of one phase are less than this apart: 0 to 1; 0: 0.25 */
    enum fathom_phase_policy policy;
};

/* Where the weight of a sample with several possible paths goes. */
enum fathom_ambiguity {
    FATHOM_AMBIGUOUS_LIKELY, /* the frames that are at least 50% sure, then "[one of 3 paths]" */
    FATHOM_AMBIGUOUS_BEST,   /* the most probable path */
    FATHOM_AMBIGUOUS_SPLIT,  /* to each path its share */
    FATHOM_AMBIGUOUS_COMMON  /* the frames that they have in common */
};

#define FATHOM_WAKERS_MOST 16

/* How samples become contexts. Set them by fathom_report_defaults() first. */
struct fathom_profile_options {
    const char *map;    /* a path map's file; NULL: none */
    const char *event;  /* of a recording that has several; NULL: the main one */
    const char *metric; /* what contexts are weighed by, of fathom_metrics; NULL: the default */
    const char *symfs;  /* programs, libraries and debug files are looked for below it; NULL: "/" */
    bool no_cache;      /* do not use what other recordings of the same programs learned */
    bool no_audit;      /* do not use the recording's own stacks */
    bool no_automaton;  /* contexts that training never saw are unknown */
    bool no_temporal;   /* each sample by itself, without what its thread did before and after */
    bool no_em;         /* do not learn path frequencies from ambiguous samples */
    struct fathom_filter filter;
    struct fathom_phases phases;
    const int *phase;   /* only samples of the phases of these numbers, */
    size_t phase_count; /* of those that the other options leave; 0: any */
    /* Levels above the functions, from the outermost inwards: of "cgroup", "container", "service", "exe", "comm", "pid", "tid" and "state", with commas between; NULL: none. -ENOENT if the recording has no cgroups. */
    const char *by;
    bool process_tree; /* below these, the programs that started each other up to that of the sample */
    bool threads;      /* each thread is a root, below these */
    bool lines;        /* source lines, of callers too */
    bool native,
        script; /* one of them alone: of paths with functions that an interpreter runs, machine code alone, or these alone */
    /* Of waits, so many who ended them, one after the other, behind their paths; at most FATHOM_WAKERS_MOST. -ENOENT if the recording does not tell them. 0: of event "wakers" one. */
    uint64_t wakers;
    bool data; /* paths end in the memory that was accessed; -ENOENT if the recording has no addresses */
    uint64_t inline_most; /* KiB of debug information that may be read for inlined functions; 0: they are not
                             shown; UINT64_MAX: any */
    enum fathom_ambiguity ambiguous;
    double min_confidence; /* contexts less probable (0 to 1) are unknown */
    double phi; /* not 0: hot contexts in bounded memory, those of at least this part of the weight */
    double eps; /* then: the error, as a part of the weight; below phi. 0: phi / 5 */
    enum fathom_counter counter;
    FATHOM_RESERVED;
};

/* Of format "perf", which also writes OUTPUT.functions where an interpreter ran functions: where it is said how sure a path is. */
enum fathom_certainty_shown {
    FATHOM_CERTAINTY_WEIGHT, /* in percent, as the sample's weight */
    FATHOM_CERTAINTY_FRAME /* and by an outermost frame "[inferred]" or "[unknown context]", whose file is OUTPUT.certainty */
};

#define FATHOM_SCRIPT_FIELDS "comm,tid,time,weight,sure,path"

struct fathom_store_selection; /* store.h */

/* Texts and lists are borrowed until fathom_report_close(). Set them by fathom_report_defaults() first. */
struct fathom_report_options {
    const char *recording; /* a perf.data file, an archive of `fathom archive`, or "-": standard input */
    /* Its batches, in place of a recording; NULL: the recording. What tells of single samples is refused then: -EINVAL. */
    const struct fathom_store_selection *store;
    /* The file to write, "-" for standard output; it is replaced when all is written. NULL: the stream that fathom_report_write() gets. */
    const char *output;
    /* One of fathom_report_formats; "script": a line for each sample; "annotate": a function's code; "phases", "phases-json": the phases of its time. NULL: the default. */
    const char *format;
    const char *view;   /* of fathom_views; NULL: the default */
    const char *fields; /* of "script"; NULL: FATHOM_SCRIPT_FIELDS */
    const char *function,
        *path; /* of "annotate": a name or regular expression; what the path of a sample ends with,
                                    "main;run;FUNCTION", or NULL */
    enum fathom_certainty_shown certainty;
    struct fathom_profile_options profile;
    double min_percent; /* rows that weigh less are left out */
    uint64_t rows;      /* only the hottest; 0: all */
    uint64_t listed;    /* functions whose code a page has, of format "html" */
    size_t width;       /* of a line, in columns: longer names are shortened; 0: any */
    bool confidence;    /* show how sure each row is, even if all are */
    bool colour;
    bool verbose;  /* the whole heading */
    bool terminal; /* the stream is one: formats that are no text are refused, -ENOTTY */
    FATHOM_RESERVED;
};

struct fathom_report;

FATHOM_API void fathom_report_defaults(struct fathom_report_options *options);
/* Says what is wrong with the options by themselves: -EINVAL. */
FATHOM_API int fathom_report_check(const struct fathom_report_options *options, struct fathom_error *error);
/* Checks the options, and opens what may need rights: the output and the kernel's names. An archive is unpacked below a new
 * directory in $TMPDIR or /var/tmp, which a child process removes when the caller ends: open it before there are threads.
 * listener: may be NULL; borrowed until fathom_report_close(). Errors: -EINVAL, also for an output that would replace what is
 * read; those of files. */
FATHOM_API_MT_UNSAFE int fathom_report_open(const struct fathom_report_options *options,
                                            const struct fathom_listener *listener,
                                            struct fathom_report **out, struct fathom_error *error);
/* What the calls below write, besides a stream. */
FATHOM_API const struct fathom_writing *fathom_report_writing(const struct fathom_report *report);
/* Reads the recording and infers its contexts; once. Errors: those of files; -ENOMSG, -EBADMSG, -ENOTSUP: no recording or map,
 * damaged, unsupported format; -ENOENT: it has no such event, or not what an option needs; -ERANGE: the counter is too
 * coarse for phi; -ENOMEM. */
FATHOM_API int fathom_report_run(struct fathom_report *report, struct fathom_error *error);
/* Then: writes the report, to its output or else to this stream; once. A report without samples is written, and warned of. */
FATHOM_API int fathom_report_write(struct fathom_report *report, FILE *stream, struct fathom_error *error);
/* Then: in what the report is less than what was asked for. */
enum fathom_report_lack {
    FATHOM_REPORT_STALE = 1, /* files of another build were met: what they would tell is unknown */
    FATHOM_REPORT_EMPTY = 2  /* the options leave no sample of those that there are */
};
FATHOM_API unsigned fathom_report_lacks(const struct fathom_report *report);
/* NULL is allowed. An output that was not written is as it was. */
FATHOM_API void fathom_report_close(struct fathom_report *report);

#ifdef __cplusplus
}
#endif

#endif
