/*
 * calls.h - counts every call of a command by calling context, in bounded memory, while the command runs with hooks (train.h).
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
    FATHOM_CALLS_LSS,   /* Lazy Space Saving */
    FATHOM_CALLS_BSS,   /* Bucket Space Saving */
    FATHOM_CALLS_LC,    /* Lossy Counting */
    FATHOM_CALLS_STICKY
};

enum fathom_calls_metric {
    FATHOM_CALLS_NUMBER,
    FATHOM_CALLS_TIME /* from a call to the thread's next one; not with FATHOM_CALLS_STICKY */
};

/* All pointers are borrowed until fathom_calls_close(). Only command and phi must not be 0. */
struct fathom_calls_options {
    char *const *command;      /* ends with NULL */
    const char *const *images; /* only files whose names start with one of these get hooks; */
    size_t image_count;        /* 0: all but the C library and the loader */
    const char *runtime;       /* as in fathom_runtime_find() */
    const char *output;        /* where to save the tree at the end; "-": standard output; NULL: nowhere */
    enum fathom_calls_counter counter;
    enum fathom_calls_metric metric;
    double phi, eps; /* as in contexts.h; unused with FATHOM_CALLS_EXACT */
    /* Count in bursts; between them the program runs as if it had no hooks. */
    double burst,
        interval;  /* ms; interval: from the start of one burst to that of the next; 0: count all the time */
    bool adaptive; /* skip most bursts in contexts in which a burst has begun before; */
    double re_enable; /* percent of them that are not skipped; these stand for all */
    /* Or count in some intervals of each phase only, and scale the weights to the whole run. The policy and the share are as in record.h.
     * Needs FATHOM_CALLS_NUMBER and FATHOM_CALLS_EXACT, which FATHOM_CALLS_PURGE stands for here. */
    double phase_interval; /* length of an interval, ms of the command's CPU time; 0: off */
    enum fathom_interval_policy phase_policy;
    uint64_t phase_share; /* 0: FATHOM_PHASE_SHARE */
    double duration;      /* seconds, after which the command gets SIGTERM; 0: to its end */
    FATHOM_RESERVED;
};

struct fathom_calls;

/* Opens the output and prepares the run. Call it before other threads exist. Errors: those of the output; -ENOENT: the runtime is not
 * found; -ENOSPC. */
FATHOM_API_MT_UNSAFE int fathom_calls_open(const struct fathom_calls_options *options,
                                           const struct fathom_listener *listener,
                                           struct fathom_calls **calls, struct fathom_error *error);
/* Runs the command, with the caller's signal dispositions except for SIGPIPE. */
FATHOM_API int fathom_calls_start(struct fathom_calls *calls, struct fathom_error *error);
/* Waits until the command ends, and returns 0; or for at most this many seconds if that is not 0, and returns 1 once they are over. */
FATHOM_API int fathom_calls_run(struct fathom_calls *calls, double seconds);
/* Makes a running command end soon. */
FATHOM_API_AS_SAFE void fathom_calls_stop(struct fathom_calls *calls);
/* Reads the counts so far. -ECHILD: the command has ended, and no calls were seen; -ENOMEM. */
FATHOM_API int fathom_calls_count(struct fathom_calls *calls, struct fathom_error *error);

enum fathom_calls_format { FATHOM_CALLS_TEXT, FATHOM_CALLS_FOLDED };

struct fathom_calls_listing {
    enum fathom_calls_format format;
    const char *view;   /* one of fathom_views that is not for recordings only; NULL: the default */
    double min_percent; /* leave out rows that weigh less */
    unsigned rows;      /* contexts; 0: all */
    size_t width;       /* columns of a row, to which long names are shortened; 0: unlimited */
    bool colour;
};

/* Checks whether a listing can be printed, with the errors of fathom_calls_write(). */
FATHOM_API int fathom_calls_check(const struct fathom_calls_listing *listing, struct fathom_error *error);
/* Prints the counts that were read last. -EINVAL: no such view, or one that is not for calls. */
FATHOM_API int fathom_calls_write(struct fathom_calls *calls, const struct fathom_calls_listing *listing,
                                  FILE *out, struct fathom_error *error);
/* Saves the counts that were read last, if there is an output, and warns about calls that could not be stored. */
FATHOM_API int fathom_calls_save(struct fathom_calls *calls, struct fathom_error *error);
/* The command's wait status; -1: it is still running. */
FATHOM_API int fathom_calls_status(const struct fathom_calls *calls);
FATHOM_API void fathom_calls_close(struct fathom_calls *calls); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
