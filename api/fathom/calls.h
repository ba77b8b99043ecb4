/*
 * calls.h - counts all calls of a command by their contexts, in bounded memory, while it runs with hooks (train.h).
 */
#ifndef FATHOM_CALLS_H
#define FATHOM_CALLS_H

#include "common.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_calls_counter {
    FATHOM_CALLS_PURGE, /* as in contexts.h */
    FATHOM_CALLS_EXACT, /* all contexts; unbounded memory */
    FATHOM_CALLS_LSS,   /* Lazy, and Bucket Space Saving */
    FATHOM_CALLS_BSS,
    FATHOM_CALLS_LC, /* Lossy Counting */
    FATHOM_CALLS_STICKY
};

enum fathom_calls_metric {
    FATHOM_CALLS_NUMBER,
    FATHOM_CALLS_TIME /* from a call to the thread's next one; not of FATHOM_CALLS_STICKY */
};

/* All pointers are borrowed until fathom_calls_close(). Zeros but for command and phi are allowed. */
struct fathom_calls_options {
    char *const *command;      /* ends with NULL */
    const char *const *images; /* only files whose names start with one of these have hooks; */
    size_t image_count;        /* 0: all but the C library and the loader */
    const char *runtime;       /* as in fathom_runtime_find() */
    const char *output;        /* where the tree is saved at the end; "-": standard output; NULL: it is not */
    enum fathom_calls_counter counter;
    enum fathom_calls_metric metric;
    double phi, eps; /* as in contexts.h; but of FATHOM_CALLS_EXACT */
    /* Counts in bursts, between which the program runs as without hooks; */
    double burst, interval; /* ms; from the start of one to that of the next. 0: all the time */
    bool adaptive;          /* mostly omits those in contexts in which one began before: */
    double re_enable;       /* percent of them are not omitted, and count for all */
    /* or in some intervals of each phase, of so many ms of the command's CPU time: which ones, and one in how many, as in record.h. Then
     * weights are scaled to the whole run. With FATHOM_CALLS_EXACT, which FATHOM_CALLS_PURGE stands for here, and FATHOM_CALLS_NUMBER. */
    double phase_interval; /* 0: not so */
    enum fathom_interval_policy phase_policy;
    uint64_t phase_share; /* 0: FATHOM_PHASE_SHARE */
    double duration;      /* seconds, after which the command gets SIGTERM; 0: to its end */
    FATHOM_RESERVED;
};

struct fathom_calls;

/* Opens the output, and makes ready, before other threads exist. Errors: of that; -ENOENT: the runtime is not found; -ENOSPC. */
FATHOM_API_MT_UNSAFE int fathom_calls_open(const struct fathom_calls_options *options,
                                           const struct fathom_listener *listener,
                                           struct fathom_calls **calls, struct fathom_error *error);
/* Runs the command. It gets the caller's signal dispositions, but for SIGPIPE. */
FATHOM_API int fathom_calls_start(struct fathom_calls *calls, struct fathom_error *error);
/* Waits for its end: 0; or for so many seconds, if that is not 0: 1. */
FATHOM_API int fathom_calls_run(struct fathom_calls *calls, double seconds);
/* Has the command end soon, while it runs. */
FATHOM_API_AS_SAFE void fathom_calls_stop(struct fathom_calls *calls);
/* Reads what has been counted so far. -ECHILD: the command has ended, and no calls were seen; -ENOMEM. */
FATHOM_API int fathom_calls_count(struct fathom_calls *calls, struct fathom_error *error);

enum fathom_calls_format { FATHOM_CALLS_TEXT, FATHOM_CALLS_FOLDED };

struct fathom_calls_listing {
    enum fathom_calls_format format;
    const char *view;   /* of fathom_views, but those of recordings alone; NULL: the default */
    double min_percent; /* rows that weigh less are left out */
    unsigned rows;      /* contexts; 0: all */
    size_t width;       /* of a row, in columns: longer names are shortened; 0: any */
    bool colour;
};

/* Whether a listing can be printed, as fathom_calls_write() tells it. */
FATHOM_API int fathom_calls_check(const struct fathom_calls_listing *listing, struct fathom_error *error);
/* Prints what was read last. -EINVAL: no such view, or it is not of calls. */
FATHOM_API int fathom_calls_write(struct fathom_calls *calls, const struct fathom_calls_listing *listing,
                                  FILE *out, struct fathom_error *error);
/* Saves what was read last, if there is an output, and warns of calls that could not be kept. */
FATHOM_API int fathom_calls_save(struct fathom_calls *calls, struct fathom_error *error);
/* The command's wait status; -1: it is still running. */
FATHOM_API int fathom_calls_status(const struct fathom_calls *calls);
FATHOM_API void fathom_calls_close(struct fathom_calls *calls); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
