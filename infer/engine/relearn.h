/*
 * relearn.h - what a reading would have learned without the stacks that a fold holds out, or for another event than the one
 * that has grown its trie since: a trie of its own, with the paths of the observations.
 */
#ifndef FATHOM_INFER_ENGINE_RELEARN_H
#define FATHOM_INFER_ENGINE_RELEARN_H

#include "infer/engine/held_out.h"
#include "infer/engine/passes.h"

struct relearned {
    struct trie *trie; /* images and functions have the numbers that they have in the learner's */
    struct function_numbers *numbers; /* of the trie */
    uint32_t
        *copies; /* by node of the learner's trie: the node with its path here; TRIE_NONE: there is none */
    uint32_t *samples; /* by node of this trie: samples of the run that have its path */
    uint32_t nodes;    /* of which that is known */
};

/* held: gets the samples that the observer's fold holds out; NULL: it has none. 0 or negative, then *out is to be cleared
 * likewise. */
int relearn(const struct passes *passes, struct held_out *held, struct relearned *out,
            struct fathom_error *err);
void relearned_clear(struct relearned *relearned); /* a zeroed one is allowed */

#endif
