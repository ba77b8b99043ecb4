/*
 * trees.h - call traces, which have all calls and returns of a run in their order, and trees of contexts: saved ones
 * (fathom_calls_save()), or those of a trace's calls.
 *
 * Contexts of two trees are the same if their functions have the same names in files of the same name (or, without a name,
 * addresses), wherever they were in memory. A file that cannot be read: system errors; -ENOMSG: neither a tree nor a trace;
 * -ENOTSUP: of another version; -EBADMSG: damaged.
 */
#ifndef FATHOM_TREES_H
#define FATHOM_TREES_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trace of a command, which runs with hooks (train.h). */
struct fathom_call_trace;

struct fathom_call_trace_options { /* all borrowed until the end */
    const char *output;            /* the trace; "-": standard output */
    char *const *command;          /* ends with NULL */
    const char *const *images;     /* only files whose names start with one of these have hooks; */
    size_t image_count;            /* 0: all but the C library and the loader */
    const char *runtime;           /* as in fathom_runtime_find() */
    FATHOM_RESERVED;
};

/* Opens the output, and makes ready, before other threads exist. Errors: of that; -ENOENT: the runtime is not found; -ENOSPC. */
FATHOM_API_MT_UNSAFE int fathom_call_trace_open(const struct fathom_call_trace_options *options,
                                                const struct fathom_listener *listener,
                                                struct fathom_call_trace **trace, struct fathom_error *error);
/* Runs the command. It gets the caller's signal dispositions, but for SIGPIPE. */
FATHOM_API int fathom_call_trace_start(struct fathom_call_trace *trace, struct fathom_error *error);
FATHOM_API void fathom_call_trace_run(struct fathom_call_trace *trace); /* waits for its end */
/* Has the command end soon, while it runs. */
FATHOM_API_AS_SAFE void fathom_call_trace_stop(struct fathom_call_trace *trace);
/* Writes the trace. Errors: of the output; -ECHILD: no calls were seen; -ENOSPC: none could be kept. */
FATHOM_API int fathom_call_trace_save(struct fathom_call_trace *trace, struct fathom_error *error);
/* The command's wait status; -1: it is still running. */
FATHOM_API int fathom_call_trace_status(const struct fathom_call_trace *trace);
FATHOM_API void fathom_call_trace_close(struct fathom_call_trace *trace); /* NULL is allowed */

/* The counters of hot contexts, in the order of struct fathom_replay_options; ends with a name of NULL. */
FATHOM_API extern const struct fathom_word fathom_tree_counters[FATHOM_WORDS];

struct fathom_replay_options {
    unsigned counters; /* which to run, a bit for each of fathom_tree_counters; 0: all */
    double phi, eps,
        delta; /* as in contexts.h; eps 0: phi / 5; delta: the probability that Sticky Sampling fails */
    bool by_function; /* contexts of functions; else of functions and their call sites */
    bool ticks;       /* weights are ticks of the time-stamp counter; else each call weighs 1 */
    uint64_t runs;    /* of which the fastest is told; 1 at least */
    uint64_t paths;   /* contexts to print for each counter */
    FATHOM_RESERVED;
};

/* Feeds a trace to counters, and prints what an event takes, how much memory, and how far the hot contexts are from the exact
 * ones. -EINVAL: an option; -ENOMSG: it has no events, too. */
FATHOM_API int fathom_call_trace_replay(const char *trace, const struct fathom_replay_options *options,
                                        FILE *out, struct fathom_error *error);

enum fathom_tree_format { FATHOM_TREE_TEXT, FATHOM_TREE_DOT };

struct fathom_tree_options {
    enum fathom_tree_format format; /* of fathom_tree_show() */
    double min_percent; /* of a graph: contexts that weigh less, with all below them, are left out */
    double phi;         /* of a comparison: contexts of this part of the weight are hot */
    uint64_t rows;      /* contexts of a list; 0: all */
    size_t width;       /* of a row, in columns: longer paths are shortened; 0: any */
    FATHOM_RESERVED;
};

/* Prints a tree: the heaviest contexts, or a graph for Graphviz. */
FATHOM_API int fathom_tree_show(const char *tree, const struct fathom_tree_options *options, FILE *out,
                                struct fathom_error *error);
/* Compares two, with the first as the reference. -EINVAL: they count other units. */
FATHOM_API int fathom_tree_compare(const char *a, const char *b, const struct fathom_tree_options *options,
                                   FILE *out, struct fathom_error *error);
/* Adds up trees, or traces, and saves the sum: weights, errors, and what a context may lack. -EINVAL: other units, or trees and
 * traces. */
FATHOM_API int fathom_tree_merge(char *const *trees, size_t count, const char *output,
                                 struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
