/*
 * fathom-streams.h - the public interface of libfathom-streams: traces of a program's memory references, in bursts (Hirzel and Chilimbi,
 * Bursty Tracing, FDDO-4 2001), and the hot data streams in them: sequences of objects that are used again and again. The profiler does not
 * need it.
 *
 * Errors and listeners are as in fathom/common.h; the interface is as stable as fathom.h's.
 */
#ifndef FATHOM_STREAMS_H
#define FATHOM_STREAMS_H

#include "fathom/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to log, as bits of `log`: e.g. 1u << FATHOM_TRACE_LOADS. */
enum fathom_trace_log {
    FATHOM_TRACE_LOADS,
    FATHOM_TRACE_STORES,
    FATHOM_TRACE_STACK,  /* also loads and stores relative to the stack pointer or the frame pointer */
    FATHOM_TRACE_BLOCKS, /* each basic block that is executed */
    FATHOM_TRACE_CALLS   /* each function that is entered */
};

/* Which functions have a check at their entry (section 4.1). */
enum fathom_trace_entries {
    FATHOM_TRACE_CYCLES,  /* the fewest that suffice: equation 3 */
    FATHOM_TRACE_CALLERS, /* all that call others */
    FATHOM_TRACE_ALL
};

#define FATHOM_TRACE_EVERY_LOOP (-1) /* for `boring` */

/* Which code to duplicate, and how. All pointers are borrowed until fathom_trace_close(). */
struct fathom_trace_code {
    const char *const *images; /* duplicate files whose names start with one of these; */
    size_t image_count;        /* 0: only the program */
    /* Only functions whose names match one of these shell patterns log and have checks; 0: all. */
    const char *const *functions;
    size_t function_count;
    unsigned log;
    enum fathom_trace_entries entries;
    /* Loops without calls and with at most this many logging instructions have no check and log nothing (section 4.2). */
    int64_t boring;
};

struct fathom_trace_options {
    char *const *command; /* ends with NULL */
    const char *output;   /* a directory to create; an existing trace there is renamed to OUTPUT.old */
    bool temporary;       /* the caller removes the directory: no note mentions it */
    struct fathom_trace_code code;
    /* Paths of more files to duplicate: programs that the command executes, libraries that it loads at run time. */
    const char *const *files;
    size_t file_count;
    uint64_t checks;     /* checks between two bursts (nCheck0); 0: everything is one burst */
    uint64_t burst;      /* checks in a burst (nInstr0) */
    uint64_t bytes;      /* maximum size of each thread's file, at which its trace ends */
    uint64_t heap_bytes; /* maximum size of each process's list of allocations, likewise; 0: no list */
    /* The file of the runtime; NULL: libfathom-burst.so beside this library, or in the configured directory. */
    const char *runtime;
    FATHOM_RESERVED;
};

struct fathom_trace;

/* Creates the directory, with the duplicated files. -EEXIST: something else has its name; -ENOENT: no such command, or the runtime is not
 * found; -ENOTSUP: the program cannot be duplicated; -ENODATA: it has none of the functions or files. */
FATHOM_API int fathom_trace_open(const struct fathom_trace_options *options,
                                 const struct fathom_listener *listener, struct fathom_trace **trace,
                                 struct fathom_error *error);
/* Chooses the number of checks between bursts so that the run takes `percent` more CPU time than without a trace (equation 2). For that
 * it runs the command six times, and discards its output. Install signal handlers before, as for fathom_trace_run(). -EDOM: checks alone
 * cost more than that, or the command is too short; -EINTR: stopped. */
FATHOM_API int fathom_trace_fit(struct fathom_trace *trace, double percent, struct fathom_error *error);
/* Runs the command, with the caller's signal dispositions except for SIGPIPE and SIGXFSZ. -ENOENT and others: it cannot be executed. */
FATHOM_API int fathom_trace_start(struct fathom_trace *trace, struct fathom_error *error);
FATHOM_API void fathom_trace_run(struct fathom_trace *trace); /* waits for its end */
/* Makes a running command end soon. */
FATHOM_API_AS_SAFE void fathom_trace_stop(struct fathom_trace *trace);
/* Reports what was traced. -ENODATA: nothing was. */
FATHOM_API int fathom_trace_end(struct fathom_trace *trace, struct fathom_error *error);
FATHOM_API int fathom_trace_status(const struct fathom_trace *trace); /* its wait status; -1: none yet */
FATHOM_API void fathom_trace_close(struct fathom_trace *trace);       /* NULL is allowed */

/* Duplicates a file into `output`, and lists its sites in OUTPUT.sites. The result runs without the runtime, and writes a trace with it: see
 * fathom-trace(1). -ENOTSUP: the file cannot be duplicated; -ENODATA: it has none of the functions; others: file errors. */
FATHOM_API int fathom_trace_emit(const char *file, const char *output, const struct fathom_trace_code *code,
                                 const struct fathom_listener *listener, struct fathom_error *error);

enum fathom_streams_of {
    FATHOM_STREAMS_DATA,  /* loads and stores of objects */
    FATHOM_STREAMS_CALLS, /* function entries, and basic blocks if they were logged */
};

enum fathom_streams_format { FATHOM_STREAMS_TEXT, FATHOM_STREAMS_JSON, FATHOM_STREAMS_HTML };

struct fathom_streams_options {
    const char *trace; /* the directory */
    enum fathom_streams_of of;
    enum fathom_streams_format format;
    uint64_t shortest, longest; /* length of a stream, in symbols */
    double cover;               /* percent of all references that the hot streams should make up */
    uint64_t rows;              /* number of streams to show; 0: all */
    size_t width;               /* columns of a row; 0: unlimited */
    FATHOM_RESERVED;
};

/* Finds the hot streams of a trace and writes them. -ENODATA: the trace has nothing of the requested kind; -ENOENT, -EBADMSG and others:
 * errors of its files. */
FATHOM_API int fathom_streams_write(const struct fathom_streams_options *options,
                                    const struct fathom_listener *listener, FILE *out,
                                    struct fathom_error *error);

/* Writes how much the hot load and store streams of two traces of the same program overlap (equation 5): those of 10 to 40 references that
 * make up 90%. Streams of the same instructions are equal. Errors as above. */
FATHOM_API int fathom_streams_compare(const char *first, const char *second,
                                      const struct fathom_listener *listener, FILE *out,
                                      struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
