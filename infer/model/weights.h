/*
 * weights.h - how much of this run goes through each calling context, by its unwound samples and training; samples of which
 * only the CID is known are distributed by that among the paths that they can have.
 *
 * A path's probability is the product, over its functions, of the probability that function f comes below the context c
 * that the functions outside of it form. With t training's samples at or below a context, at most WEIGHTS_PRIOR of which
 * count (training was another run: its millions must not outweigh this one), r those of this run, and k the number of
 * different functions below c,
 *
 *     P(f | c) = (s * t(cf) / t(c) + r(cf) + k(c) * P(f | g2 g1)) / (s + r(c) + k(c)),  s = min(t(c), PRIOR)
 *
 * where the share k is for functions that were never seen in c (Witten and Bell, 1991), and depends on the two innermost
 * ones, g2 and g1, in any context (backoff.h). The sample being in c itself is one such f.
 *
 * CIDs are distributed one after the other, the surest first, and each then influences those after it. As the samples of
 * a CID mostly have one path, and so are one guess, each counts as WEIGHTS_GUESS of an unwound sample.
 */
#ifndef FATHOM_INFER_MODEL_WEIGHTS_H
#define FATHOM_INFER_MODEL_WEIGHTS_H

#include "infer/contexts/admission.h"
#include "infer/model/graph.h"

#define WEIGHTS_PRIOR 100.0
#define WEIGHTS_GUESS 0.2

struct weights;

/* map: made from a trie, borrowed. unwound: by its nodes, how many of their `self` are this run's; borrowed. calls: the rest of
 * the map has counts of all calls, which are better evidence than the samples that training took as well: each sample counts as
 * one at the function's entry. NULL: out of memory. */
struct weights *weights_new(const struct pathmap *map, const uint32_t *unwound, bool calls);
void weights_free(struct weights *weights);
/* From now on only paths that a CID's setting allows are considered. admission is borrowed, and is for the map. */
void weights_admit(struct weights *weights, const struct admission *admission);
/* Adds samples of a CID in a setting, whose paths are in the map; once for each. 0 or -ENOMEM. */
int weights_add(struct weights *weights, uint32_t setting, uint32_t function, uint32_t height,
                uint64_t samples);
/* Distributes the samples that were added; call it once. learn: what is distributed influences others. 0 or -ENOMEM. */
int weights_run(struct weights *weights, bool learn);
/* The probabilities of a CID's paths relative to each other: each at the first of the path's nodes, 0 at the others. */
struct weights_cid {
    uint32_t setting;
    uint32_t first, count; /* nodes */
    const double *shares;  /* by node; valid until the next weights_add() */
};
/* The CIDs that were added, by number; false: there are no more. */
bool weights_cid(const struct weights *weights, size_t number, struct weights_cid *out);
/* Samples at or below each node and at it, for graph_new(); of training's, at most WEIGHTS_PRIOR for each function. The caller
 * frees both arrays. 0 or -ENOMEM. */
int weights_of_nodes(const struct weights *weights, struct graph_weights *out);

#endif
