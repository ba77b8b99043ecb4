/*
 * top.h - the hot calling contexts of a command or running processes while they run, in bounded memory; or of what a store has of the
 * last time.
 *
 * Rights are needed to open it, and few to run it: a caller with many gives up the others between the two.
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
    /* In place of a target, of which the event and the duration count then. Its `since` is taken anew whenever the store is read,
     * which is when rows are made, and at most each 5 s. NULL: a target. */
    const struct fathom_store_selection *store;
    const char *map; /* a path map; NULL: none */
    /* What counts in place of the main event, of a target: the times in which threads have no CPU, with the reason last on each path; or these and all CPU time, in the kernel
     * too. They need what fathom_recorder_options (record.h) says of the same. */
    bool off_cpu, wall;
    double eps;   /* the error allowed in a context's share, which sets the memory: 0.00002, say; above 0 */
    double decay; /* seconds: what counts is the last one to two times so long; 0: all since the start */
    /* Called at least 10 times a second while it runs, for pictures; a negative result ends the run and is returned. NULL: no. */
    int (*progress)(void *context, struct fathom_error *error);
    void *context;
    FATHOM_RESERVED;
};

struct fathom_top;

/* Opens the events, and forks the command, which waits; or the store. listener: borrowed until fathom_top_close(); NULL is allowed.
 * Errors: as those of fathom_recorder_open() (record.h); of a store, as those of fathom_report_open(). */
FATHOM_API int fathom_top_open(const struct fathom_top_options *options,
                               const struct fathom_listener *listener, struct fathom_top **out,
                               struct fathom_error *error);
/* Starts the command, and counts until it or all processes have ended, the duration is over or fathom_top_stop() is called. To be
 * called once; what was counted can be read until fathom_top_close(). */
FATHOM_API int fathom_top_run(struct fathom_top *top, struct fathom_error *error);
/* Ends the run soon. */
FATHOM_API_AS_SAFE void fathom_top_stop(struct fathom_top *top);
FATHOM_API void fathom_top_close(struct fathom_top *top); /* NULL is allowed */

/* The next three are for `progress`, and for after the run. */

/* Counts anew; what was learned of paths stays. Of a store nothing changes. */
FATHOM_API int fathom_top_clear(struct fathom_top *top, struct fathom_error *error);

struct fathom_top_summary {
    /* The name of what counts; good until fathom_top_close(), of a store until the next rows, as are: */
    const char *event;
    const char *stored;  /* what of a store was read; NULL: it is a target */
    const char *failure; /* why the store could not be read the last time; NULL: it was */
    /* Since fathom_top_clear(), of what counts: */
    uint64_t samples, weight;
    uint64_t proved, inferred; /* weight with such a path */
    uint64_t lost_now;         /* records */
    /* In all: */
    uint64_t stacks; /* learned */
    bool full;       /* no more paths are learned */
    uint64_t lost, throttled;
    uint64_t unread;    /* new stacks that came too fast */
    bool scripts_apart; /* what interpreters run was read at other instants than the samples' */
    bool behind;        /* files took long to open: what came meanwhile is counted next */
    bool ended;         /* the command or all processes have, by which the run ended */
    int status;         /* of a launched command, as of waitpid(2); -1: there is none, or it runs still */
};
FATHOM_API void fathom_top_summary(const struct fathom_top *top, struct fathom_top_summary *summary);

enum fathom_top_view {
    FATHOM_TOP_TREE,    /* from the roots inwards */
    FATHOM_TOP_CALLERS, /* each function with weight of its own, its callers below */
    FATHOM_TOP_FLAT,    /* functions; recursion counts once in their totals */
    FATHOM_TOP_VIEWS    /* how many there are */
};
enum fathom_top_sort { FATHOM_TOP_BY_TOTAL, FATHOM_TOP_BY_SELF, FATHOM_TOP_BY_NAME, FATHOM_TOP_SORTS };

#define FATHOM_TOP_ALL UINT32_MAX

/* Which rows are made. */
struct fathom_top_show {
    enum fathom_top_view view;
    enum fathom_top_sort sort;
    double min_percent; /* of the whole weight: lighter rows are left out */
    const char *filter; /* only contexts with a function whose name contains it; "": all */
    bool threads;       /* each is a root */
    uint32_t thread;    /* only this one's: the item of a root with `threads`; FATHOM_TOP_ALL: all */
    /* Whether the row with this key is shown without its children; NULL: none is. */
    bool (*is_folded)(void *context, uint64_t key);
    void *context;
};

struct fathom_top_row {
    /* Its name, or a label such as "[unknown context]"; good until fathom_top_close(), of a store until the next rows, as image. */
    const char *function;
    const char *image; /* the file's name; "": of a label */
    uint64_t key;      /* of its path: the same in the next picture */
    uint64_t self, total;
    double sure;    /* the part of the total whose path is certain */
    uint32_t item;  /* the number of the function or thread */
    uint32_t level; /* of indentation: only forks indent */
    bool marked;    /* one of several rows at its level below their caller */
    bool folded, has_children;
    bool is_root; /* no row is its caller */
};

struct fathom_top_rows {
    const struct fathom_top_row *at;
    size_t count;
    uint64_t whole; /* weight of everything */
    uint64_t rest;  /* of what is in no context that is kept */
};

/* The rows now. rows->at is good until the next call, or fathom_top_close(). After a failure the rows from before stay. Errors:
 * -ENOMEM; of a store, before it was read for the first time, as those of fathom_report_run(). */
FATHOM_API int fathom_top_rows(struct fathom_top *top, const struct fathom_top_show *show,
                               struct fathom_top_rows *rows, struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
