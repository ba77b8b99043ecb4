/*
 * reach.h - which nodes of the callers, and which cells of the lattice, can matter for the requested CIDs.
 *
 * Nodes are those that a walk outwards from the CIDs reaches with a sufficient probability, whatever its heights: the rest can
 * be most of a large program, and changes no answer by much. A walk's probability is here the product of its calls', each of
 * them two and a half times its own, but at most 1: deep recursions would be lost otherwise.
 *
 * Cells are bits, by node and height, 64 heights in a word: a call with a certain rise shifts a word by that many units, so
 * that one operation does 64 steps. First inwards from the root: where plain paths lead (lattice.h). Then outwards from the
 * CIDs, height by height: from plain cells along calls to plain cells only, from others along all calls; as far as some walk
 * there is probable enough.
 */
#ifndef FATHOM_INFER_MODEL_REACH_H
#define FATHOM_INFER_MODEL_REACH_H

#include <stddef.h>

#include "base/work.h"
#include "infer/model/callers.h"

#define REACH_BLOCK 64u /* units */

struct reach_cid {
    uint32_t node, unit; /* node: CALLERS_NONE: it is left out */
};

struct reach {
    uint32_t nodes, blocks; /* nodes: of the callers */
    uint64_t *needed;       /* bits by block, then node */
};

/* Makes the callers, which have all nodes of the graph, again without those that no walk reaches, and replaces the CIDs' nodes
 * with their new numbers. least: a walk's minimum probability. 0 or -ENOMEM. */
int reach_near(struct callers *callers, const struct graph *graph, struct reach_cid *cids, size_t count,
               double least, struct work *work);
/* *reach has to be freed in any case. least: a walk's minimum probability; bytes: the limit of memory; work: limits the steps.
 * CIDs at or above the height that its blocks cover are ignored. 0 or -ENOMEM. */
int reach_make(struct reach *reach, const struct callers *callers, const struct reach_cid *cids, size_t count,
               double least, size_t bytes, struct work *work);
void reach_free(struct reach *reach);

static inline bool reach_needs(const struct reach *reach, uint32_t node, uint32_t unit)
{
    uint32_t block = unit / REACH_BLOCK;
    return block < reach->blocks &&
           reach->needed[(size_t)block * reach->nodes + node] >> unit % REACH_BLOCK & 1;
}

#endif
