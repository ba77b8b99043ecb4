/*
 * fathom-streams.h - the public interface of libfathom-streams: traces of what a program refers to, in bursts (Hirzel and Chilimbi, Bursty
 * Tracing, FDDO-4 2001), and the hot data streams in them: which objects are used one after another, again and again. The
 * profiler does not need it.
 *
 * Errors and listeners are those of fathom/common.h; the interface is stable as fathom.h's is.
 */
#ifndef FATHOM_STREAMS_H
#define FATHOM_STREAMS_H

#include "fathom/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is logged, as bits of `log`: 1u << FATHOM_TRACE_LOADS and others. */
enum fathom_trace_log {
    FATHOM_TRACE_LOADS,
    FATHOM_TRACE_STORES,
    FATHOM_TRACE_STACK,  /* also loads and stores relative to the stack pointer or the frame pointer */
    FATHOM_TRACE_BLOCKS, /* each basic block that is executed */
    FATHOM_TRACE_CALLS   /* each function that is entered */
};

/* Which functions have a check at their entry (section 4.1). */
enum fathom_trace_entries {
    FATHOM_TRACE_CYCLES,  /* as few as are enough: equation 3 */
    FATHOM_TRACE_CALLERS, /* all that call others */
    FATHOM_TRACE_ALL
};

#define FATHOM_TRACE_EVERY_LOOP (-1) /* of `boring` */

/* What is duplicated, and how. All pointers are borrowed until fathom_trace_close(). */
struct fathom_trace_code {
    const char *const *images; /* files whose names start with one of these; */
    size_t image_count;        /* 0: the program alone */
    /* Functions whose names match one of these patterns, as of a shell; 0: all. Others log nothing, and have no checks. */
    const char *const *functions;
    size_t function_count;
    unsigned log;
    enum fathom_trace_entries entries;
    /* Loops without calls and with so many instructions that log, or fewer, have no check and log nothing (section 4.2). */
    int64_t boring;
};

struct fathom_trace_options {
    char *const *command; /* ends with NULL */
    const char *output;   /* a directory, which is made; an earlier trace there becomes OUTPUT.old */
    bool temporary;       /* the caller removes it: no note names it */
    struct fathom_trace_code code;
    /* Paths of other files that are duplicated, too: programs that it executes, libraries that it loads while it runs. */
    const char *const *files;
    size_t file_count;
    uint64_t checks;     /* between two bursts (nCheck0); 0: all is one burst */
    uint64_t burst;      /* checks of a burst (nInstr0) */
    uint64_t bytes;      /* of each thread's file, which ends there */
    uint64_t heap_bytes; /* of the list of allocations of each process, likewise; 0: none is made */
    /* The file of the runtime; NULL: libfathom-burst.so beside this library, or in the configured directory. */
    const char *runtime;
    FATHOM_RESERVED;
};

struct fathom_trace;

/* Makes the directory, and the duplicated files in it. -EEXIST: there is something else; -ENOENT: there is no such command, or the runtime
 * is not found; -ENOTSUP: the program cannot be duplicated; -ENODATA: it has none of the functions or files. */
FATHOM_API int fathom_trace_open(const struct fathom_trace_options *options,
                                 const struct fathom_listener *listener, struct fathom_trace **trace,
                                 struct fathom_error *error);
/* Chooses how many checks there are between bursts, for a run that takes `percent` more CPU time than without a trace (equation 2):
 * runs the command six times for that, with its output thrown away. To be called with the caller's signal handlers in place, as
 * fathom_trace_run(). -EDOM: that is less than checks cost, or the command is too short; -EINTR: stopped. */
FATHOM_API int fathom_trace_fit(struct fathom_trace *trace, double percent, struct fathom_error *error);
/* Runs the command. It gets the caller's signal dispositions, but for SIGPIPE and SIGXFSZ. -ENOENT and others: it cannot be executed. */
FATHOM_API int fathom_trace_start(struct fathom_trace *trace, struct fathom_error *error);
FATHOM_API void fathom_trace_run(struct fathom_trace *trace); /* to its end */
/* Has it end soon, while it runs. */
FATHOM_API_AS_SAFE void fathom_trace_stop(struct fathom_trace *trace);
/* Says what was traced. -ENODATA: nothing was. */
FATHOM_API int fathom_trace_end(struct fathom_trace *trace, struct fathom_error *error);
FATHOM_API int fathom_trace_status(const struct fathom_trace *trace); /* its wait status; -1: none yet */
FATHOM_API void fathom_trace_close(struct fathom_trace *trace);       /* NULL is allowed */

/* Duplicates a file into `output`, with a list of its places beside it, OUTPUT.sites. It runs without a runtime, and with one
 * writes a trace: see fathom-trace(1). -ENOTSUP: it cannot be duplicated; -ENODATA: it has none of the functions; others: of the files. */
FATHOM_API int fathom_trace_emit(const char *file, const char *output, const struct fathom_trace_code *code,
                                 const struct fathom_listener *listener, struct fathom_error *error);

enum fathom_streams_of {
    FATHOM_STREAMS_DATA,  /* loads and stores of objects */
    FATHOM_STREAMS_CALLS, /* functions that are entered, and basic blocks, where they were logged */
};

enum fathom_streams_format { FATHOM_STREAMS_TEXT, FATHOM_STREAMS_JSON, FATHOM_STREAMS_HTML };

struct fathom_streams_options {
    const char *trace; /* the directory */
    enum fathom_streams_of of;
    enum fathom_streams_format format;
    uint64_t shortest, longest; /* symbols of a stream */
    double cover;               /* percent of all that the hot ones are to make up */
    uint64_t rows;              /* streams that are shown; 0: all */
    size_t width;               /* of a row, in columns; 0: any */
    FATHOM_RESERVED;
};

/* Finds the hot streams of a trace and writes them. -ENODATA: the trace has none of what is asked for; -ENOENT, -EBADMSG and others: of its
 * files. */
FATHOM_API int fathom_streams_write(const struct fathom_streams_options *options,
                                    const struct fathom_listener *listener, FILE *out,
                                    struct fathom_error *error);

/* Writes how much the hot streams of loads and stores of two traces of the same program overlap (equation 5): those of 10 to 40 references
 * that make up 90%. Streams are the same that are of the same instructions. Errors as above. */
FATHOM_API int fathom_streams_compare(const char *first, const char *second,
                                      const struct fathom_listener *listener, FILE *out,
                                      struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
