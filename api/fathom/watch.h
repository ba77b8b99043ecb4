/*
 * watch.h - contexts that training never saw: points whose function no path of a map has at their stack depth.
 *
 * That is exact: such a place is in no path of the map. What it means is a matter of how much training saw, so the chance of a false alarm, of a program that
 * does what it did in training, is told beside it (fathom_watch_chance()). A function that has no hook, of which 'fathom train' says that it is left out, is not
 * seen by training unless it is sampled. A signal handler on the thread's own stack begins at any depth: what it calls is new nearly each time.
 */
#ifndef FATHOM_WATCH_H
#define FATHOM_WATCH_H

#include "resolve.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_watch;

#define FATHOM_WATCH_MOST 1024 /* contexts kept by default */

/* resolver: borrowed until fathom_watch_close(). most: so many contexts are kept; 0: FATHOM_WATCH_MOST. -ENOMEM. */
FATHOM_API int fathom_watch_open(struct fathom_resolver *resolver, size_t most, struct fathom_watch **out,
                                 struct fathom_error *error);
/* NULL is allowed. */
FATHOM_API void fathom_watch_close(struct fathom_watch *watch);

/* 1: training never saw the point's context, nor did this watch; it is the last of the list now. 0: it is none, or not the first of it, or is not told. Errors
 * as of fathom_resolver_resolve(), whose answer to this point is *answer (NULL is allowed). */
FATHOM_API int fathom_watch_check(struct fathom_watch *watch, const struct fathom_point *point,
                                  const struct fathom_answer **answer, struct fathom_error *error);

/* What was found, in the order in which it was; good until the watch is closed. */
struct fathom_anomaly;
FATHOM_API size_t fathom_watch_count(const struct fathom_watch *watch);
FATHOM_API const struct fathom_anomaly *fathom_watch_at(const struct fathom_watch *watch,
                                                        size_t index); /* NULL: there are no more */
FATHOM_API const char *fathom_anomaly_function(const struct fathom_anomaly *anomaly);
FATHOM_API const char *fathom_anomaly_image(const struct fathom_anomaly *anomaly); /* the file's path */
/* Of the first of its points, and of its function's entry: ELF virtual addresses in the image. */
FATHOM_API uint64_t fathom_anomaly_address(const struct fathom_anomaly *anomaly);
FATHOM_API uint64_t fathom_anomaly_entry(const struct fathom_anomaly *anomaly);
/* The stack depth: bytes from the stack's base to the frame's CFA. */
FATHOM_API uint64_t fathom_anomaly_height(const struct fathom_anomaly *anomaly);
/* How many of the points that were checked had it. */
FATHOM_API uint64_t fathom_anomaly_times(const struct fathom_anomaly *anomaly);

struct fathom_watch_summary {
    uint64_t checked;
    uint64_t never_seen; /* of them */
    uint64_t not_told;   /* of them: of a place that is not known, or that training did not observe */
    uint64_t left_out;   /* of those never seen, since so many contexts are kept already */
};
FATHOM_API void fathom_watch_summary(const struct fathom_watch *watch, struct fathom_watch_summary *summary);

/* That a point is a false alarm: it is never seen, though the program does what it did in training. It is expected of n times `chance` of n points.
 *
 * By the counts of the map (Good 1953): `chance` is the share of training's observations whose context was seen once. With a confidence of 95% it is `most` at most if
 * observations are independent of each other (McAllester and Ortiz 2003 for what was not seen, McDiarmid 1989 for what was seen once):
 * once / n + (1 + sqrt(2)) sqrt(ln(2 / 0.05) / n). It holds for points that are taken as training took its own: samples of a clock, if the map has
 * samples, else points at each call.
 *
 * Samples of one run resemble each other more than that, so runs are compared, too, where the map was made of two inputs or more ('fathom train --append'):
 * `next` is the mean share of an input's samples whose context the others had not, `next_most` the upper end of the 95% range of one more input's
 * (docs/model.md, section 8). Fewer inputs: both are 1. */
struct fathom_watch_chance {
    uint64_t observations,
        once; /* samples, or calls if the map has no samples; contexts that one of them had */
    bool calls;
    double chance, most;
    unsigned inputs; /* that were compared */
    double next, next_most;
};
FATHOM_API void fathom_watch_chance(const struct fathom_watch *watch, struct fathom_watch_chance *chance);

#ifdef __cplusplus
}
#endif

#endif
