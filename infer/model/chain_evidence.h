/*
 * chain_evidence.h - uses call chains and branch stacks that were recorded with a sample to distinguish its candidates.
 *
 * A chain by frame pointers skips functions without frame pointers, and can contain addresses that are not return addresses;
 * the processor's last branches go back only so far. So they are evidence, not truth: a candidate's likelihood is multiplied by
 * 0.01 for each caller of the chain that it lacks, in the chain's order, and by 0.5 for each of its own frames between two
 * callers. Callers in functions that the map does not have are ignored.
 */
#ifndef FATHOM_INFER_MODEL_CHAIN_EVIDENCE_H
#define FATHOM_INFER_MODEL_CHAIN_EVIDENCE_H

#include "infer/contexts/resolver.h"

#define CHAIN_EVIDENCE_ANSWERS 1000000u /* stored at most; the samples after that are left unchanged */

struct chain_evidence;

struct chain_evidence *chain_evidence_new(struct resolver *resolver); /* borrowed. NULL: out of memory */
void chain_evidence_free(struct chain_evidence *evidence);
/* Weights the candidates of a resolved sample if it has several and there is evidence; *resolved becomes the new answer. 0 or
 * -ENOMEM. */
int chain_evidence_weigh(struct chain_evidence *evidence, const struct process *process,
                         const struct sample *sample, struct resolved *resolved, struct fathom_error *err);

#endif
