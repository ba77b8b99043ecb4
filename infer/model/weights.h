/*
 * weights.h - how much of this run goes through each calling context, as far as its unwound samples and
 * training tell; the samples of which only the CID is known are shared out by that among the paths that they
 * can have.
 *
 * A path is as probable as that each of its functions f comes below the context c that the ones outside of it
 * make. With t training's samples at or below a context, at most WEIGHTS_PRIOR of which count (training was
 * another run: its millions must not drown what this one shows), r those of this run, and k the number of
 * different functions below c,
 *
 *     P(f | c) = (s * t(cf) / t(c) + r(cf) + k(c) * P(f | g2 g1)) / (s + r(c) + k(c)),  s = min(t(c), PRIOR)
 *
 * where the share k is for functions that were never seen in c (Witten and Bell, 1991), and goes by the two
 * innermost ones, g2 and g1, in any context (backoff.h). The sample's being in c itself is one such f.
 *
 * CIDs are shared out one after the other, the surest first, and each then tells of those that come after it.
 * As samples of a CID mostly have one path, and so are one guess, each counts for WEIGHTS_GUESS of a sample
 * that was unwound.
 */
#ifndef FATHOM_INFER_MODEL_WEIGHTS_H
#define FATHOM_INFER_MODEL_WEIGHTS_H

#include "infer/contexts/admission.h"
#include "infer/model/graph.h"

#define WEIGHTS_PRIOR 100.0
#define WEIGHTS_GUESS 0.2

struct weights;

/* map: made of a trie, borrowed. unwound: by its nodes, how many of their `self` are this run's; borrowed. calls: the
 * rest of the map counts every call, which says more than what samples training took beside that: each stands
 * for a sample at the function's entry. NULL: out of memory. */
struct weights *weights_new(const struct pathmap *map, const uint32_t *unwound, bool calls);
void weights_free(struct weights *weights);
/* From now on a CID's paths are those that can be in its setting. admission is borrowed, and of the map. */
void weights_admit(struct weights *weights, const struct admission *admission);
/* Samples of a CID in a setting, whose paths are the map's; each once. 0 or -ENOMEM. */
int weights_add(struct weights *weights, uint32_t setting, uint32_t function, uint32_t height,
                uint64_t samples);
/* Shares out the samples that were added, once. learn: what is shared out tells of others. 0 or -ENOMEM. */
int weights_run(struct weights *weights, bool learn);
/* How probable the paths of a CID are among themselves: each at the first of the path's nodes, 0 at the
 * others. */
struct weights_cid {
    uint32_t setting;
    uint32_t first, count; /* nodes */
    const double *shares;  /* of each of them; until the next weights_add() */
};
/* Those that were added, by number; false: there are no more. */
bool weights_cid(const struct weights *weights, size_t number, struct weights_cid *out);
/* What goes through each node and stops there, for graph_new(); of training, at most WEIGHTS_PRIOR
 * samples for each function. The caller frees both arrays. 0 or -ENOMEM. */
int weights_of_nodes(const struct weights *weights, struct graph_weights *out);

#endif
