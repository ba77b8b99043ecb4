/*
 * trained.h - how much of a run a path map predicts, judged by how parts of its training predict each other
 * (pathmap/map/trials.h).
 *
 * If the map has the CID, its probabilities are scaled as in the trials (right samples, divided by the sum of probabilities):
 * by the mean over the inputs, or for one input by no more than the lowest over its slices. If it does not, no trial shows how
 * often paths composed from the code are right: only the share of all samples that the trials had right is claimed, with bounds
 * 0 and 1.
 *
 * Inputs are few, and each is one that a run could have: the share that is right for the next one is in Student's prediction
 * interval, at least as wide as Wilson's for this number of inputs. Its upper end counts what a trial left open as right, as
 * the samples' times may still decide it. Slices of one input say nothing about others: the bounds are 0 and 1.
 */
#ifndef FATHOM_INFER_MODEL_TRAINED_H
#define FATHOM_INFER_MODEL_TRAINED_H

#include "pathmap/map/pathmap.h"

/* What the share that is on the right path is estimated from, if no stack of the run can be used. */
enum trained_by {
    TRAINED_BY_NOTHING, /* probability 0.5 then */
    TRAINED_BY_SLICES,
    TRAINED_BY_INPUTS,
};

struct trained {
    enum trained_by by;
    uint32_t parts;     /* slices or inputs */
    double seen;        /* factor for probabilities if the map has the CID */
    double least, most; /* 95% bounds of the share that is right there */
    double all;         /* share of all samples that had the right path */
    double unseen,
        /* share of samples whose CID the other parts did not have, and the upper end of its 95% range */
        unseen_most;
};

struct trained trained_of(const struct pathmap *map);
struct trained trained_of_trials(const struct trial *trials, uint32_t count);

#endif
