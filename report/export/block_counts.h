/*
 * block_counts.h - estimates how often the basic blocks of a function ran, from time samples. Private to report/.
 *
 * A block's measured count is the mean of its instructions' samples, which assumes that instructions take equally long. A block is left
 * as often as it is entered: of all counts with this property, those that differ least from the measured ones are chosen (a minimum-cost
 * circulation: Levin, Newman and Haber, "Complementing Missing and Inaccurate Profiling Using a Minimum Cost Circulation Algorithm",
 * HiPEAC 2008; He, Mestre, Pupyrev, Wang and Yu, "Profile Inference Revisited", POPL 2022; with other costs: docs/benchmarks.md).
 */
#ifndef FATHOM_REPORT_EXPORT_BLOCK_COUNTS_H
#define FATHOM_REPORT_EXPORT_BLOCK_COUNTS_H

#include "image/blocks.h"

struct block_samples {
    const double *weight; /* of each block's samples */
    uint32_t entry;       /* the function's first block */
    double calls;         /* how often other functions call it, in the unit of counts; 0: unknown */
};

/* How often each block and each edge ran, in units of weight per instruction. work: as for circulation_solve(). 0; 1: it was used up
 * before the best counts were found; or -ENOMEM. */
int block_counts_find(const struct blocks *blocks, const struct block_samples *samples, double *counts,
                      double *edges, uint64_t *work);

#endif
