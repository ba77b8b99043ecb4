/*
 * relearn.h - what a reading would have learned without the stacks that a fold holds out, or for another event than the one
 * whose inferred paths were added to its trie: a trie of its own, with the observations' paths.
 */
#ifndef FATHOM_INFER_ENGINE_RELEARN_H
#define FATHOM_INFER_ENGINE_RELEARN_H

#include "infer/engine/held_out.h"
#include "infer/engine/passes.h"

struct relearned {
    struct trie *trie;                /* its images and functions have the learner's numbers */
    struct function_numbers *numbers; /* for the trie */
    uint32_t *copies;  /* by node of the learner's trie: the node here with its path; TRIE_NONE: none */
    uint32_t *samples; /* by node of this trie: samples of the run that have its path */
    uint32_t nodes;    /* length of `samples` */
};

/* held: gets the samples that the observer's fold holds out; NULL: there is no fold. 0 or negative; *out has to be cleared in
 * either case. */
int relearn(const struct passes *passes, struct held_out *held, struct relearned *out,
            struct fathom_error *err);
void relearned_clear(struct relearned *relearned); /* may be zeroed */

#endif
