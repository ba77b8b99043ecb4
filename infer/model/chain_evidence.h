/*
 * chain_evidence.h - call chains and branch stacks that were recorded with a sample tell its candidates apart.
 *
 * A chain by frame pointers leaves out functions that keep none, and can hold addresses that are none; the
 * last branches of the processor reach back only so far. So they are evidence, not truth: a candidate that
 * lacks a caller of the chain, in the chain's order, is a hundred times less likely for each one, and half as
 * likely for each of its own frames between two callers. Callers in functions that the map does not know say
 * nothing. What is alike for all candidates changes nothing.
 */
#ifndef FATHOM_INFER_MODEL_CHAIN_EVIDENCE_H
#define FATHOM_INFER_MODEL_CHAIN_EVIDENCE_H

#include "infer/contexts/resolver.h"

#define CHAIN_EVIDENCE_ANSWERS 1000000u /* kept at most; samples after that are left as they are */

struct chain_evidence;

struct chain_evidence *chain_evidence_new(struct resolver *resolver); /* borrowed. NULL: out of memory */
void chain_evidence_free(struct chain_evidence *evidence);
/* Weighs the candidates of a resolved sample anew when it has several and there is evidence: then *resolved
 * is told of the new answer. 0 or -ENOMEM. */
int chain_evidence_weigh(struct chain_evidence *evidence, const struct process *process,
                         const struct sample *sample, struct resolved *resolved, struct fathom_error *err);

#endif
