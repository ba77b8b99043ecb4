/*
 * doubts.h - how certain the contexts of a calling-context tree are, stored outside the tree: most contexts are certain and
 * take no memory.
 *
 * A sample of weight w that ends in a context that is right with probability p adds a doubt of w * (1 - p) there. Callers
 * further out are at least as certain; where they are more so, a relief of w times the difference is added. The doubt of a
 * context's total is then the sum of the doubts in its subtree minus the reliefs in it.
 */
#ifndef FATHOM_PROFILE_DOUBTS_H
#define FATHOM_PROFILE_DOUBTS_H

#include "hcct/cct.h"

struct doubts;

struct doubt {
    double end;    /* of samples that end in a context: weight expected not to be on its path */
    double relief; /* of samples that end in or below it */
};

struct doubts *doubts_new(void); /* NULL: out of memory */
void doubts_free(struct doubts *doubts);
/* 0 or -ENOMEM. */
int doubts_add(struct doubts *doubts, const struct cct_node *node, struct doubt doubt);
/* {0, 0} if nothing was added. */
struct doubt doubts_at(const struct doubts *doubts, const struct cct_node *node);

#endif
