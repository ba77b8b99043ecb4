/*
 * branches.h - a tree of weights laid out for drawing: parents before children, siblings in order, every
 * subtree contiguous.
 *
 * Built by adding branches below existing ones, then arranged once. After that, the children of branch i are
 * i + 1, then each previous child's `end`, up to its own `end`; drawing is a loop over the array, so trees
 * may have any depth. Branch 0 is the root, which is not a context itself. 80 bytes per branch.
 */
#ifndef FATHOM_REPORT_VIEWS_BRANCHES_H
#define FATHOM_REPORT_VIEWS_BRANCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/saturate.h"
#include "hcct/cct.h"
#include "profile/doubts.h"
#include "profile/frames.h"

#define BRANCHES_NONE UINT32_MAX

struct branch {
    uint64_t self;    /* weight that ends here */
    uint64_t error;   /* upper bound on how much of `self` belongs to other contexts */
    uint64_t total;   /* self and all below; UINT64_MAX if the sum is larger. Set by branches_arrange() */
    uint64_t calls;   /* number of calls whose time `self` is; 0: it is not a time of calls */
    double end_doubt; /* weight of `self` that may not be on its path (doubts.h) */
    double doubt;     /* the same for the total; before branches_arrange(), the branch's own part */
    const struct cct_node *node; /* has the values of all metrics; NULL: not made from a tree */
    uint32_t item;
    uint32_t parent;
    uint32_t end;   /* the index after its subtree. Set by branches_arrange() */
    uint32_t level; /* of indentation; set while drawing */
    uint32_t times; /* the function's longest direct recursion, in calls (fold.c); 0: once */
    bool shown;     /* set while drawing */
    bool forks;     /* set while drawing: more than one child is shown */
};

struct branches {
    struct branch *at;
    uint32_t count, capacity;
};

/* The certainty of its total, after branches_arrange(): 0 to 1, 1 if it weighs nothing. */
static inline double branch_certainty(const struct branch *branch)
{
    double doubt = branch->total ? branch->doubt / (double)branch->total : 0;
    return doubt < 0 ? 1 : doubt < 1 ? 1 - doubt : 0;
}

/* Order of two siblings: negative if a comes before b. */
typedef int branch_compare(const struct branch *a, const struct branch *b, const void *context);

/* Starts with only the root. On failure there is nothing to free. */
int branches_init(struct branches *branches, size_t capacity, struct fathom_error *err);
void branches_clear(struct branches *branches);
/* Index of the new branch, BRANCHES_NONE if out of memory (or at 4 billion). Its parent must exist. */
uint32_t branches_add(struct branches *branches, uint32_t parent, uint32_t item, uint64_t self,
                      uint64_t error);
/* Adds totals and puts everything in order; indices change. */
int branches_arrange(struct branches *branches, branch_compare *compare, const void *context,
                     struct fathom_error *err);

/* All nodes of a calling-context tree in preorder, not arranged. doubts may be NULL: none. */
int branches_of_cct(struct branches *branches, struct cct *cct, const struct doubts *doubts,
                    struct fathom_error *err);

/* -ERANGE: a branch has an item that is not among the first `items`. */
int branches_check(const struct branches *branches, uint32_t items, struct fathom_error *err);

/* Heaviest first; ties by name, image and address, so that equal input gives equal output. context: the
 * struct frames. */
int branch_compare_weight(const struct branch *a, const struct branch *b, const void *frames);
/* The same for two items, and for two paths from their inner ends outwards. */
int frame_compare(const struct frames *frames, uint32_t a, uint32_t b);
int path_compare(const struct frames *frames, const struct cct_node *a, const struct cct_node *b);

#endif
