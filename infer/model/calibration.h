/*
 * calibration.h - how far probabilities can be believed in this recording: those of paths that were never seen at their
 * CID, and with a map, which is of another run, those of ambiguous ones too. A rehearsal infers paths whose stacks were
 * unwound, without having learned from those (held_out.h), and is right more or less often than it says.
 *
 * With n such stacks, said to be right with probabilities that sum to S, and of which R were, probabilities are multiplied
 * by (R + A m) / (S + A), at most 1: a Beta prior of A stacks with mean m. The samples of one path are one stack with
 * their weight: n is Kish's effective size, (sum w)^2 / sum w^2 (Kish, Survey Sampling, 1965, section 11.7). What this
 * run saw at a CID keeps its probability: scaling that likewise made calibration worse (docs/benchmarks.md, "How far
 * probabilities can be believed").
 */
#ifndef FATHOM_INFER_MODEL_CALIBRATION_H
#define FATHOM_INFER_MODEL_CALIBRATION_H

#include "infer/contexts/resolver.h"

struct calibration;

/* trained: paths are known from a map of the program. NULL: out of memory. */
struct calibration *calibration_new(bool trained);
void calibration_free(struct calibration *calibration);
/* Notes the answer for one sample whose path is known. path: a number of its true path. 0 or -ENOMEM. */
int calibration_note(struct calibration *calibration, const struct resolved *resolved, uint32_t path,
                     bool right);
/* Call when all answers are noted. */
void calibration_settle(struct calibration *calibration);
/* Whether the answer's probabilities are scaled. */
bool calibration_scales(const struct calibration *calibration, const struct resolved *resolved);
/* What the answer's probabilities are to be multiplied with; 1 for those that are not scaled. Before
 * calibration_settle() the prior's. */
double calibration_factor(const struct calibration *calibration, const struct resolved *resolved);
/* Bounds of the weight that is right, relative to what scaled probabilities say: Wilson's interval (1927) at 95% for
 * the n + A stacks. At most, and at least, 1. */
double calibration_least(const struct calibration *calibration);
double calibration_most(const struct calibration *calibration);

#endif
