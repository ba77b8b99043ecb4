/*
 * comparison.h - an inferred path beside a true one: over all frames that unwinding finds, or over those of
 * images that the map covers (DESIGN section 1, "right path").
 */
#ifndef FATHOM_EVALUATE_COMPARISON_H
#define FATHOM_EVALUATE_COMPARISON_H

#include "evaluate/truth.h"
#include "infer/resolver.h"

struct comparison;

/* Which frames count. Those that a truth map leaves out never do. */
enum comparison_scope {
    COMPARE_ALL,
    COMPARE_COVERED, /* of images that the map has and covers (pathmap_covers()) */
};

/* Both borrowed. NULL: out of memory. */
struct comparison *comparison_new(struct truth *truth, const struct pathmap *map,
                                  enum comparison_scope scope);
void comparison_free(struct comparison *comparison);

/* The map's number of a true function, or one of these: the map does not have it; frames of its image are not
 * compared. PATHMAP_NONE: out of memory. */
#define NOT_IN_MAP   (PATHMAP_NONE - 1)
#define NOT_COMPARED (PATHMAP_NONE - 2)
uint32_t comparison_translate(struct comparison *comparison, uint32_t true_function);
/* Whether frames of a function of the map are compared. */
bool comparison_covers(struct comparison *comparison, uint32_t function);

struct compared {
    bool right;     /* the most probable path is the true one */
    bool among;     /* one of the CID's is */
    uint32_t paths; /* that share the CID. Where training saw some of them, and the true one is another, all
                       that inference adds count, else those that training saw */
    double frames; /* share of frames that agree, counted from both ends of the longer path inwards until they
                      differ: a lower bound when they differ in several places */
};
/* A resolved sample beside a true path; all zero when it is unknown. 0 or -ENOMEM. */
int comparison_make(struct comparison *comparison, const struct resolved *resolved, uint32_t true_path,
                    struct compared *out);

#endif
