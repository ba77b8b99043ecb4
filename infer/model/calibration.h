/*
 * calibration.h - how far probabilities can be believed in this recording: those of paths that were never seen at their
 * CID, and with a map, which is of another run, those of ambiguous ones too. Cross-validation infers paths whose stacks were
 * unwound, without having learned from those (held_out.h), and is right more or less often than it says.
 *
 * A path of whose innermost frames n different calls were never seen where they are, and which is said to be right with probability P, is
 * right with probability P r^n; where it is the only one that was found, with P q^n; an ambiguous one, with a map, with P a.
 * Each of r, q, and a is where its stacks, which were right (y = 1) or not, are most probable, with a Beta prior
 * of A stacks with mean m:
 *
 *     L(r) = sum over stacks of (y log(P r^n) + (1 - y) log(1 - P r^n)) + A (m log r + (1 - m) log(1 - r))
 *
 * which is concave. Their 95% bounds are where L is 1.92 less (Wilks, 1938). The samples of one path are one stack with
 * their weight: all weights are scaled to sum to Kish's effective size, (sum w)^2 / sum w^2 (Survey Sampling, 1965, section
 * 11.7). What this run saw at a CID keeps its probability. docs/benchmarks.md, "How far probabilities can be believed",
 * has what this was compared with.
 */
#ifndef FATHOM_INFER_MODEL_CALIBRATION_H
#define FATHOM_INFER_MODEL_CALIBRATION_H

#include "infer/contexts/resolver.h"

struct calibration;

/* trained: paths are known from a map of the program. NULL: out of memory. */
struct calibration *calibration_new(bool trained);
void calibration_free(struct calibration *calibration);
/* Notes the answer for one sample whose path is known. unseen: its calls that were never seen (pathmap_unseen()). path: a
 * number of its true path. 0 or -ENOMEM. */
int calibration_note(struct calibration *calibration, const struct resolved *resolved, uint32_t unseen,
                     uint64_t path, bool right);
/* Call when all answers are noted; before that the priors are all that is known. */
void calibration_settle(struct calibration *calibration);

/* What all probabilities of an answer are to be multiplied with; least, most: the same at the 95% bounds of its rate; 1 for
 * those that are believed as they are. rate: the part of the factor for one unseen call, 1 where these do not matter. */
struct belief {
    double factor, least, most, rate;
};
struct belief calibration_belief(struct calibration *calibration, const struct resolved *resolved,
                                 uint32_t unseen);

#endif
