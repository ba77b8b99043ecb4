/*
 * trees.h - call traces, i.e. all calls and returns of a run in order, and context trees, either saved by fathom_calls_save() or made from a
 * trace.
 *
 * Contexts of two trees are equal if their functions have the same names (or, without a name, addresses) in files of the same name, wherever
 * these were in memory. Errors of files: system errors; -ENOMSG: neither a tree nor a trace; -ENOTSUP: of another version; -EBADMSG:
 * damaged.
 */
#ifndef FATHOM_TREES_H
#define FATHOM_TREES_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trace of a command that runs with hooks (train.h). */
struct fathom_call_trace;

struct fathom_call_trace_options { /* all pointers are borrowed until fathom_call_trace_close() */
    const char *output;            /* the trace; "-": standard output */
    char *const *command;          /* ends with NULL */
    const char *const *images;     /* only files whose names start with one of these get hooks; */
    size_t image_count;            /* 0: all but the C library and the loader */
    const char *runtime;           /* as in fathom_runtime_find() */
    FATHOM_RESERVED;
};

/* Opens the output and prepares the run. Call it before other threads exist. Errors: those of the output; -ENOENT: the runtime is not
 * found; -ENOSPC. */
FATHOM_API_MT_UNSAFE int fathom_call_trace_open(const struct fathom_call_trace_options *options,
                                                const struct fathom_listener *listener,
                                                struct fathom_call_trace **trace, struct fathom_error *error);
/* Runs the command, with the caller's signal dispositions except for SIGPIPE. */
FATHOM_API int fathom_call_trace_start(struct fathom_call_trace *trace, struct fathom_error *error);
FATHOM_API void fathom_call_trace_run(struct fathom_call_trace *trace); /* waits for its end */
/* Makes a running command end soon. */
FATHOM_API_AS_SAFE void fathom_call_trace_stop(struct fathom_call_trace *trace);
/* Writes the trace. Errors: those of the output; -ECHILD: no calls were seen; -ENOSPC: none could be stored. */
FATHOM_API int fathom_call_trace_save(struct fathom_call_trace *trace, struct fathom_error *error);
/* The command's wait status; -1: it is still running. */
FATHOM_API int fathom_call_trace_status(const struct fathom_call_trace *trace);
FATHOM_API void fathom_call_trace_close(struct fathom_call_trace *trace); /* NULL is allowed */

/* The counters of hot contexts, in the order of struct fathom_replay_options; ends with a name of NULL. */
FATHOM_API extern const struct fathom_word fathom_tree_counters[FATHOM_WORDS];

struct fathom_replay_options {
    unsigned counters; /* which to run: a bit for each of fathom_tree_counters; 0: all */
    double phi, eps,
        delta; /* as in contexts.h; eps 0: phi / 5; delta: the probability that Sticky Sampling fails */
    bool by_function; /* contexts consist of functions; else of functions and call sites */
    bool ticks;       /* weigh calls by ticks of the time-stamp counter; else each call weighs 1 */
    uint64_t runs;    /* number of runs, of which the fastest is reported; at least 1 */
    uint64_t paths;   /* contexts to print for each counter */
    FATHOM_RESERVED;
};

/* Feeds a trace to counters, and prints the time per event, the memory, and how much the hot contexts differ from the exact ones. -EINVAL:
 * an option; -ENOMSG: also if the trace has no events. */
FATHOM_API int fathom_call_trace_replay(const char *trace, const struct fathom_replay_options *options,
                                        FILE *out, struct fathom_error *error);

enum fathom_tree_format { FATHOM_TREE_TEXT, FATHOM_TREE_DOT };

struct fathom_tree_options {
    enum fathom_tree_format format; /* for fathom_tree_show() */
    double min_percent;             /* for a graph: leave out contexts that weigh less, and all below them */
    double phi;    /* for a comparison: hot contexts have at least this fraction of the weight */
    uint64_t rows; /* for a list: number of contexts; 0: all */
    size_t width;  /* columns of a row, to which long paths are shortened; 0: unlimited */
    FATHOM_RESERVED;
};

/* Prints a tree: the heaviest contexts, or a graph for Graphviz. */
FATHOM_API int fathom_tree_show(const char *tree, const struct fathom_tree_options *options, FILE *out,
                                struct fathom_error *error);
/* Compares two trees; the first one is the reference. -EINVAL: they count different units. */
FATHOM_API int fathom_tree_compare(const char *a, const char *b, const struct fathom_tree_options *options,
                                   FILE *out, struct fathom_error *error);
/* Adds up trees, or traces, and saves the sum: weights, errors, and how much a context's weight may be too low. -EINVAL: different units, or
 * both trees and traces. */
FATHOM_API int fathom_tree_merge(char *const *trees, size_t count, const char *output,
                                 struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
