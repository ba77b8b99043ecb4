/*
 * expectation.h - expectation-maximisation over a whole recording (on the model of coherence.h): what is sure
 * of it tells how often contexts run and how long they last, the ambiguous samples are shared out by that,
 * and again, until it settles.
 */
#ifndef FATHOM_INFER_EXPECTATION_H
#define FATHOM_INFER_EXPECTATION_H

#include "infer/coherence.h"
#include "infer/survey.h"

#define EXPECTATION_ROUNDS 16 /* at most */

/* What the survey's CIDs and anchors are in the map that is resolved with. */
struct expectation_input {
    const struct survey *survey;
    const uint32_t *functions; /* map's number by the trie's (numbering.h) */
    const uint32_t *nodes;     /* map's number by the trie's (trie_serialise_numbers) */
    struct resolver *resolver;
    struct coherence *model;
    uint32_t rounds; /* 0: the model learns from sure samples alone */
};

/* Teaches the model. 0 or -ENOMEM. */
int expectation_run(const struct expectation_input *input, struct fathom_error *err);
/* The state of an anchor: the candidate that has the path of this node of the map, which need not be the same
 * node. 1; 0: none has, or the node is none; -ENOMEM. */
int expectation_anchor(struct resolver *resolver, struct coherence *model, uint32_t node, uint32_t *state);

#endif
