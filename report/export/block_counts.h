/*
 * block_counts.h - how often the basic blocks of a function ran, from samples of its time. Private to report/.
 *
 * A block's samples tell how often it ran, by the mean of its instructions, as far as these take equally long. As often as a block is entered it is left: of
 * all counts for which that holds, those are taken that differ least from what was measured (a minimum-cost circulation: Levin, Newman and Haber,
 * "Complementing Missing and Inaccurate Profiling Using a Minimum Cost Circulation Algorithm", HiPEAC 2008; He, Mestre, Pupyrev, Wang and Yu, "Profile
 * Inference Revisited", POPL 2022; with other costs: docs/benchmarks.md).
 */
#ifndef FATHOM_REPORT_EXPORT_BLOCK_COUNTS_H
#define FATHOM_REPORT_EXPORT_BLOCK_COUNTS_H

#include "image/blocks.h"

struct block_samples {
    const double *weight; /* of each block's samples */
    uint32_t entry;       /* the function's first block */
    double calls; /* how often other functions are known to call it, in the unit of counts; 0: not known */
};

/* How often each block and each edge ran, in units of weight by instruction. work: as for circulation_solve(). 0; 1: it was used up before the best counts were
 * found; or -ENOMEM. */
int block_counts_find(const struct blocks *blocks, const struct block_samples *samples, double *counts,
                      double *edges, uint64_t *work);

#endif
