/*
 * reach.h - which cells of the lattice can matter for the CIDs that are asked for.
 *
 * Bits by node and height, 64 heights in a word: a call that rises by so many units moves a word's bits by as many, so that
 * one word stands for 64 steps. Inwards from the root: where plain paths lead to (lattice.h). Then outwards from the CIDs, height
 * by height: along the calls of plain cells, which go on from plain ones alone, and along all calls of the others; as far as
 * some walk there has a probability that counts (near.h).
 */
#ifndef FATHOM_INFER_MODEL_REACH_H
#define FATHOM_INFER_MODEL_REACH_H

#include <stddef.h>

#include "base/work.h"
#include "infer/model/callers.h"

#define REACH_BLOCK 64u /* units */

struct reach_cid {
    uint32_t node, unit; /* node: CALLERS_NONE: there is none */
};

struct reach {
    uint32_t nodes, blocks; /* nodes: of the callers */
    uint64_t *needed;       /* block by block, by node */
};

/* To be freed in any case. least: of a walk's probability; bytes: the limit of memory; work: of steps. CIDs at or above the height
 * of the blocks that it has are left out. 0 or -ENOMEM. */
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
