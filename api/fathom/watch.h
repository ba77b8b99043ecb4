/*
 * watch.h - detects contexts that training never saw: points whose function occurs in no path of the map at their stack depth.
 *
 * The test itself is exact. What a result means depends on how much training saw: fathom_watch_chance() gives the chance of a false alarm by
 * a program that does the same as in training. Training does not see functions without hooks, which 'fathom train' reports as left out,
 * unless they are sampled. A signal handler on the thread's own stack can begin at any depth: what it calls is new nearly every time.
 */
#ifndef FATHOM_WATCH_H
#define FATHOM_WATCH_H

#include "resolve.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_watch;

#define FATHOM_WATCH_MOST 1024 /* contexts kept by default */

/* resolver: borrowed until fathom_watch_close(). most: the maximum number of contexts to keep; 0: FATHOM_WATCH_MOST. -ENOMEM. */
FATHOM_API int fathom_watch_open(struct fathom_resolver *resolver, size_t most, struct fathom_watch **out,
                                 struct fathom_error *error);
/* NULL is allowed. */
FATHOM_API void fathom_watch_close(struct fathom_watch *watch);

/* Returns 1 if neither training nor this watch saw the point's context before; it is now the last in the list. 0: training or this watch saw
 * it, or that is unknown. *answer: fathom_resolver_resolve()'s answer for this point; NULL is allowed. Errors: as that. */
FATHOM_API int fathom_watch_check(struct fathom_watch *watch, const struct fathom_point *point,
                                  const struct fathom_answer **answer, struct fathom_error *error);

/* The contexts found, in the order of detection; valid until the watch is closed. */
struct fathom_anomaly;
FATHOM_API size_t fathom_watch_count(const struct fathom_watch *watch);
FATHOM_API const struct fathom_anomaly *fathom_watch_at(const struct fathom_watch *watch,
                                                        size_t index); /* NULL: there are no more */
FATHOM_API const char *fathom_anomaly_function(const struct fathom_anomaly *anomaly);
FATHOM_API const char *fathom_anomaly_image(const struct fathom_anomaly *anomaly); /* the file's path */
/* The address of its first point, and of its function's entry: ELF virtual addresses in the image. */
FATHOM_API uint64_t fathom_anomaly_address(const struct fathom_anomaly *anomaly);
FATHOM_API uint64_t fathom_anomaly_entry(const struct fathom_anomaly *anomaly);
/* The stack depth: bytes from the stack's base to the frame's CFA. */
FATHOM_API uint64_t fathom_anomaly_height(const struct fathom_anomaly *anomaly);
/* How many of the checked points had this context. */
FATHOM_API uint64_t fathom_anomaly_times(const struct fathom_anomaly *anomaly);

struct fathom_watch_summary {
    uint64_t checked;
    uint64_t never_seen; /* checked points whose context training never saw */
    uint64_t not_told;   /* checked points at an unknown place, or one that training did not observe */
    uint64_t left_out;   /* never seen, but not listed, as the maximum number of contexts is kept already */
};
FATHOM_API void fathom_watch_summary(const struct fathom_watch *watch, struct fathom_watch_summary *summary);

/* The chance that a point is a false alarm: never seen, though the program does the same as in training. Of n points, n times `chance` are
 * expected to be false alarms.
 *
 * It is estimated from the map's counts (Good 1953): `chance` is the share of training's observations whose context was seen only once. With
 * a confidence of 95% it is at most `most`, if observations are independent of each other (McAllester and Ortiz 2003 for what was not
 * seen, McDiarmid 1989 for what was seen once): once / n + (1 + sqrt(2)) sqrt(ln(2 / 0.05) / n). It holds for points taken in the same way
 * as training's: samples of a clock, if the map has samples, else points at each call.
 *
 * Samples of one run are less independent than that, so if the map was made from two or more inputs ('fathom train --append'), runs are
 * compared too: `next` is the mean share of an input's samples whose context the other inputs did not have, `next_most` the upper end of
 * the 95% range for one more input (docs/model.md, section 8). With fewer inputs, both are 1. */
struct fathom_watch_chance {
    uint64_t observations,
        once; /* samples, or calls if the map has no samples; contexts that only one of them had */
    bool calls;
    double chance, most;
    unsigned inputs; /* number of inputs compared */
    double next, next_most;
};
FATHOM_API void fathom_watch_chance(const struct fathom_watch *watch, struct fathom_watch_chance *chance);

#ifdef __cplusplus
}
#endif

#endif
