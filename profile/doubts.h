/*
 * doubts.h - how sure the contexts of a calling-context tree are, beside the tree: most contexts are certain
 * and take no room.
 *
 * A sample of weight w that ends in a context which is its right one with the probability p adds a doubt of
 * w * (1 - p) there. Callers further out are as sure or surer; where they are surer, a relief is added: w
 * times the difference. The doubt of any context's total is then the sum of the doubts below it without the
 * reliefs from it on inwards.
 */
#ifndef FATHOM_PROFILE_DOUBTS_H
#define FATHOM_PROFILE_DOUBTS_H

#include "hcct/cct.h"

struct doubts;

struct doubt {
    double end;    /* of the samples that end in a context: weight that is not on its path */
    double relief; /* of the samples that end in or below it */
};

struct doubts *doubts_new(void); /* NULL: out of memory */
void doubts_free(struct doubts *doubts);
/* 0 or -ENOMEM. */
int doubts_add(struct doubts *doubts, const struct cct_node *node, struct doubt doubt);
/* {0, 0} where nothing was added. */
struct doubt doubts_at(const struct doubts *doubts, const struct cct_node *node);

#endif
