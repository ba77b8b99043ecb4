/*
 * calibration.h - how far probabilities can be believed in this recording. Cross-validation infers paths whose stacks were
 * unwound, without having learned from those (held_out.h), and is right more or less often than it says.
 *
 * A path of whose innermost frames n different calls were never seen where they are, and which is said to be right with probability P, is
 * right with probability P r^n; where it is the only one that was found, with P q^n; one that was seen at its CID, whether or
 * not others were, with P s. Each of r, q, and s is where its stacks, which were right (y = 1) or not, are most probable, with a Beta prior
 * of A stacks with mean m:
 *
 *     L(r) = sum over stacks of (y log(P r^n) + (1 - y) log(1 - P r^n)) + A (m log r + (1 - m) log(1 - r))
 *
 * which is concave. Their 95% bounds are where L is 1.92 less (Wilks, 1938). The samples of one path are one stack with
 * their weight: all weights are scaled to sum to Kish's effective size, (sum w)^2 / sum w^2 (Survey Sampling, 1965, section
 * 11.7). docs/benchmarks.md, "How far probabilities can be believed", has what this was compared with.
 *
 * Whatever the rates say, nobody knows the share that is right better than so many stacks tell it: the bounds of all answers together are at
 * least as far apart as those of a binomial share (Wilson, 1927) of as many as were held out, whose samples are weighted likewise. Where
 * none was, they are 0 and 1.
 *
 * Where no stack of the run was held out, and paths come from a map, all probabilities are scaled by what parts of its training
 * predict of each other (trained.h), and the bounds of an answer are those that this has.
 */
#ifndef FATHOM_INFER_MODEL_CALIBRATION_H
#define FATHOM_INFER_MODEL_CALIBRATION_H

#include "infer/contexts/resolver.h"
#include "infer/model/trained.h"

struct calibration;

struct calibration *calibration_new(void); /* NULL: out of memory */
void calibration_free(struct calibration *calibration);
struct held_stack {
    uint64_t number; /* of the stack, which was held out */
    uint64_t path;   /* a number of its true path */
};
/* Notes the answer for one sample whose path is known. unseen: its calls that were never seen (pathmap_unseen()). 0 or
 * -ENOMEM. */
int calibration_note(struct calibration *calibration, const struct resolved *resolved, uint32_t unseen,
                     const struct held_stack *stack, bool right);
/* How many stacks were noted. */
size_t calibration_stacks(const struct calibration *calibration);
/* Call when all answers are noted; before that the priors are all that is known. */
void calibration_settle(struct calibration *calibration);

/* Nothing of the run tells how far answers can be believed: from now on, what is known of the map's training does. */
void calibration_train(struct calibration *calibration, const struct trained *trained);

/* factor: what all probabilities of an answer are to be multiplied with; 1 for those that are believed as they are. least,
 * most: the bounds of its own. rate: the part of the factor for one unseen call, 1 where these do not matter; seen: the part
 * for the frames that were seen. */
struct belief {
    double factor, least, most, rate, seen;
};
struct belief calibration_belief(struct calibration *calibration, const struct resolved *resolved,
                                 uint32_t unseen);

#endif
