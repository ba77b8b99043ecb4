/*
 * expectation.h - learns the model of coherence.h from a whole recording. Sure samples show how long contexts last. The factor
 * by which other contexts last longer (the strength of renewal.h) is the one that makes the recording most probable. With that,
 * ambiguous samples are distributed among their states, which shows how often each context runs; and again, until it settles
 * (expectation-maximisation).
 *
 * Stretches of the recording represent all of it, with some 65,536 samples together: enough for the few numbers of the model,
 * in bounded time. Only a few rounds are run: consecutive samples are not independent, so that many rounds only confirm what
 * the first ones began.
 */
#ifndef FATHOM_INFER_MODEL_EXPECTATION_H
#define FATHOM_INFER_MODEL_EXPECTATION_H

#include "infer/model/coherence.h"
#include "infer/samples/survey.h"

#define EXPECTATION_ROUNDS 4 /* at most */

/* The survey's CIDs and true paths in terms of the map that resolves samples. */
struct expectation_input {
    const struct survey *survey;
    struct resolver *resolver;
    struct coherence *model;
    uint32_t rounds; /* 0: the model learns from sure samples only */
    /* How many pairs of states may be examined to learn, and as many again to resolve all samples with the model. If there are
     * more, it learns from fewer stretches, and considers fewer candidates per sample. 0: no limit. */
    uint64_t pairs;
};

/* Trains the model. 0 or -ENOMEM. */
int expectation_run(const struct expectation_input *input, struct fathom_error *err);
/* The state of a true path in its setting: the candidate with the path of this node of the map, which may be another node. 1;
 * 0: no candidate has it, or there is no such node; -ENOMEM. */
int expectation_true_path(struct resolver *resolver, struct coherence *model, uint32_t setting, uint32_t node,
                          uint32_t *state);

#endif
