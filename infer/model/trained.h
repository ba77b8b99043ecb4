/*
 * trained.h - how much of a run a path map predicts, as far as parts of its training predict each other (pathmap/map/trials.h).
 *
 * Where the map has the CID, its probabilities are believed as far as in the trials (right samples, by the sum of probabilities): the
 * mean of the inputs, and for one input, no more than the lowest of its slices. Where it has not, no trial tells how often what is put together of the code is right: no
 * more is said than the share of all samples that the trials had right, and anything is possible.
 *
 * Inputs are few, and each is one of those that a run could have: what is right of the next one is in the range of Student's prediction
 * interval, which is at least Wilson's of as many as there are. Its upper end has what was open in a trial as right, as the time of
 * the samples may tell it. Slices of one input say nothing of others: anything is possible.
 */
#ifndef FATHOM_INFER_MODEL_TRAINED_H
#define FATHOM_INFER_MODEL_TRAINED_H

#include "pathmap/map/pathmap.h"

/* What tells how much is on the right path, if no stack of the run does. */
enum trained_by {
    TRAINED_BY_NOTHING, /* as likely as not, then */
    TRAINED_BY_SLICES,
    TRAINED_BY_INPUTS,
};

struct trained {
    enum trained_by by;
    uint32_t parts;     /* slices or inputs */
    double seen;        /* where the map has the CID: what probabilities are to be multiplied with */
    double least, most; /* the 95% range of the share that is right there */
    double all;         /* the share of all samples that had a right path */
    double unseen,
        unseen_most; /* the share whose CID the other parts had not, and the upper end of its 95% range */
};

struct trained trained_of(const struct pathmap *map);
struct trained trained_of_trials(const struct trial *trials, uint32_t count);

#endif
