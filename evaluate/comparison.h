/*
 * comparison.h - compares an inferred path with a true one: over all frames that unwinding finds, or only over
 * those of images that the map covers.
 */
#ifndef FATHOM_EVALUATE_COMPARISON_H
#define FATHOM_EVALUATE_COMPARISON_H

#include "evaluate/truth.h"
#include "infer/contexts/resolver.h"

struct comparison;

/* Which frames are compared. Frames that a truth map omits never are. */
enum comparison_scope {
    COMPARE_ALL,
    COMPARE_COVERED, /* those of images that the map has and covers (pathmap_covers()) */
};

/* Both are borrowed. NULL: out of memory. */
struct comparison *comparison_new(struct truth *truth, const struct pathmap *map,
                                  enum comparison_scope scope);
void comparison_free(struct comparison *comparison);

/* The map's number of a true function. NOT_IN_MAP: the map does not have it. NOT_COMPARED: frames of its image
 * are not compared. PATHMAP_NONE: out of memory. */
#define NOT_IN_MAP   (PATHMAP_NONE - 1)
#define NOT_COMPARED (PATHMAP_NONE - 2)
uint32_t comparison_translate(struct comparison *comparison, uint32_t true_function);
/* Whether frames of a function of the map are compared. */
bool comparison_covers(struct comparison *comparison, uint32_t function);

struct compared {
    bool right; /* the most probable path is the true one */
    bool among; /* one of the CID's paths is the true one */
    /* number of paths with the CID, as in struct resolved; but all of them if training saw some and the true one is among those
     * that inference added */
    uint32_t paths;
    double frames; /* share of the longer path's frames that agree, counted from each end up to the first
                       difference: a lower bound if the paths differ in several places */
};
/* Compares a resolved sample's answer with a true path. *out is zeroed if the answer is unknown. 0 or -ENOMEM. */
int comparison_make(struct comparison *comparison, const struct resolved *resolved, uint32_t true_path,
                    struct compared *out);

/* Whether the answer, which must not be unknown, ends with the innermost frames that are known of the true path; if the answer
 * is partial too, with as many of them as it has. 0 or -ENOMEM. */
int comparison_inner(struct comparison *comparison, const struct resolved *resolved, uint32_t true_path,
                     bool *right);

#endif
