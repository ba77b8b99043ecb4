/*
 * expectation.h - the model of coherence.h, taught by a whole recording: what is sure of it tells how long
 * contexts last, what makes it most likely how much longer the others do (the strength of renewal.h), and by
 * that the ambiguous samples are shared out, which tells how often each context runs, and again, until it
 * settles (expectation-maximisation).
 *
 * Stretches of the recording stand for all of it, with some 65,536 samples together: so many tell the few
 * numbers of the model well, and the time that it takes has a bound. Few rounds are gone, since samples that
 * follow each other are no independent witnesses: many rounds confirm what the first ones began.
 */
#ifndef FATHOM_INFER_MODEL_EXPECTATION_H
#define FATHOM_INFER_MODEL_EXPECTATION_H

#include "infer/model/coherence.h"
#include "infer/samples/survey.h"

#define EXPECTATION_ROUNDS 4 /* at most */

/* What the survey's CIDs and true paths are in the map that is resolved with. */
struct expectation_input {
    const struct survey *survey;
    struct resolver *resolver;
    struct coherence *model;
    uint32_t rounds; /* 0: the model learns from sure samples alone */
    /* Pairs of states that may be looked at, to learn, and as many by those who resolve all samples with the model: where there
     * are more, it learns from fewer stretches, and takes fewer candidates of each sample. 0: no limit. */
    uint64_t pairs;
};

/* Teaches the model. 0 or -ENOMEM. */
int expectation_run(const struct expectation_input *input, struct fathom_error *err);
/* The state of a true path in its setting: the candidate that has the path of this node of the map, which need
 * not be the same node. 1; 0: none has, or the node is none; -ENOMEM. */
int expectation_true_path(struct resolver *resolver, struct coherence *model, uint32_t setting, uint32_t node,
                          uint32_t *state);

#endif
