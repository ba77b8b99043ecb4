/*
 * top.h - the hot calling contexts of a command or running processes while they run, in bounded memory; or of the latest data in a store.
 *
 * Opening needs rights, running only few: a privileged caller should give up the others in between.
 */
#ifndef FATHOM_TOP_H
#define FATHOM_TOP_H

#include "store.h"
#include "target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pointers are borrowed until fathom_top_close(). */
struct fathom_top_options {
    struct fathom_target target;
    /* A store in place of a target, of which only the event and the duration are used then. The store is read when rows are made, at most
     * every 5 s, and `since` is evaluated anew each time. NULL: a target. */
    const struct fathom_store_selection *store;
    const char *map; /* a path map; NULL: none */
    /* For a target, count instead of the main event the times in which threads have no CPU, with the reason last on each path; or these
     * and all CPU time, in the kernel too. The requirements are as in fathom_recorder_options (record.h). */
    bool off_cpu, wall;
    double eps;   /* allowed error of a context's share, above 0, e.g. 0.00002; determines the memory use */
    double decay; /* seconds: counts cover the last one to two times this period; 0: all since the start */
    /* Called at least 10 times a second during the run, to refresh a display; a negative result ends the run and is returned. May be
     * NULL. */
    int (*progress)(void *context, struct fathom_error *error);
    void *context;
    FATHOM_RESERVED;
};

struct fathom_top;

/* Opens the events, and forks the command, which waits; or the store. listener: borrowed until fathom_top_close(); NULL is allowed.
 * Errors: as fathom_recorder_open() (record.h); for a store, as fathom_report_open(). */
FATHOM_API int fathom_top_open(const struct fathom_top_options *options,
                               const struct fathom_listener *listener, struct fathom_top **out,
                               struct fathom_error *error);
/* Starts the command, and counts until it or all processes have ended, the duration is over or fathom_top_stop() is called. Call it
 * once; the counts can be read until fathom_top_close(). */
FATHOM_API int fathom_top_run(struct fathom_top *top, struct fathom_error *error);
/* Ends the run soon. */
FATHOM_API_AS_SAFE void fathom_top_stop(struct fathom_top *top);
FATHOM_API void fathom_top_close(struct fathom_top *top); /* NULL is allowed */

/* The next three functions may be called by `progress`, and after the run. */

/* Resets the counts; learned paths remain. Does nothing for a store. */
FATHOM_API int fathom_top_clear(struct fathom_top *top, struct fathom_error *error);

struct fathom_top_summary {
    /* The name of what is counted. This and the next two are valid until fathom_top_close(), with a store until the next rows. */
    const char *event;
    const char *stored;  /* what was read from the store; NULL: it is a target */
    const char *failure; /* why the last read of the store failed; NULL: it did not */
    /* Of the counted event, since fathom_top_clear(): */
    uint64_t samples, weight;
    uint64_t proved, inferred; /* weight with a proved or inferred path */
    uint64_t lost_now;         /* records */
    /* Since the start: */
    uint64_t stacks; /* learned */
    bool full;       /* no more paths are learned */
    uint64_t lost, throttled;
    uint64_t unread;    /* new stacks that were not read, as they came too fast */
    bool scripts_apart; /* interpreters' functions were not read at the same instants as the samples */
    bool behind;        /* opening files took long: samples that came meanwhile are still to be counted */
    bool ended;         /* the run ended because the command or all processes ended */
    int status;         /* wait status (waitpid(2)) of a launched command; -1: none, or it is still running */
};
FATHOM_API void fathom_top_summary(const struct fathom_top *top, struct fathom_top_summary *summary);

enum fathom_top_view {
    FATHOM_TOP_TREE,    /* from the roots inwards */
    FATHOM_TOP_CALLERS, /* each function with self weight, its callers below */
    FATHOM_TOP_FLAT,    /* functions; recursion counts once in their totals */
    FATHOM_TOP_VIEWS    /* how many there are */
};
enum fathom_top_sort { FATHOM_TOP_BY_TOTAL, FATHOM_TOP_BY_SELF, FATHOM_TOP_BY_NAME, FATHOM_TOP_SORTS };

#define FATHOM_TOP_ALL UINT32_MAX

/* Which rows to make. */
struct fathom_top_show {
    enum fathom_top_view view;
    enum fathom_top_sort sort;
    double min_percent; /* percent of the whole weight; lighter rows are left out */
    const char *filter; /* only contexts with a function whose name contains it; "": all */
    bool threads;       /* each thread is a root */
    uint32_t thread;    /* only this thread: the item of a root with `threads`; FATHOM_TOP_ALL: all */
    /* Whether the row with this key is shown without its children; NULL: no row is. */
    bool (*is_folded)(void *context, uint64_t key);
    void *context;
};

struct fathom_top_row {
    /* The function's name, or a label, e.g. "[unknown context]". This and `image` are valid until fathom_top_close(), with a store until
     * the next rows. */
    const char *function;
    const char *image; /* the file's name; "" for a label */
    uint64_t key;      /* identifies the path, also in later rows */
    uint64_t self, total;
    double sure;    /* the part of the total whose path is certain */
    uint32_t item;  /* the number of the function or thread */
    uint32_t level; /* of indentation, which grows only at forks */
    bool marked;    /* one of several rows at this level below the same caller */
    bool folded, has_children;
    bool is_root; /* its caller is not a row */
};

struct fathom_top_rows {
    const struct fathom_top_row *at;
    size_t count;
    uint64_t whole; /* the whole weight */
    uint64_t rest;  /* weight outside all contexts that are counted */
};

/* The current rows. rows->at is valid until the next call or fathom_top_close(); a failure leaves earlier rows valid. Errors: -ENOMEM; for a
 * store that was never read before, as fathom_report_run(). */
FATHOM_API int fathom_top_rows(struct fathom_top *top, const struct fathom_top_show *show,
                               struct fathom_top_rows *rows, struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
