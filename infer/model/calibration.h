/*
 * calibration.h - how far probabilities can be believed in this recording. Cross-validation infers paths whose stacks were
 * unwound, without having learned from these (held_out.h), and is right more or less often than it states.
 *
 * A path is right with probability
 *     P r^n if it is stated to have probability P, and n different calls on it were never seen where they are;
 *     P q^n if it is also the only one that was found;
 *     P s   if it was seen at its CID, whether or not others were.
 * r, q, and s have the values that are most probable given their stacks, which were right (y = 1) or not, with a Beta
 * prior of A stacks with mean m:
 *
 *     L(r) = sum over stacks of (y log(P r^n) + (1 - y) log(1 - P r^n)) + A (m log r + (1 - m) log(1 - r))
 *
 * which is concave. Their 95% bounds are where L is 1.92 less (Wilks, 1938). The samples of one path count as one stack
 * with their weight: all weights are scaled to sum to Kish's effective size, (sum w)^2 / sum w^2 (Survey Sampling, 1965,
 * section 11.7). docs/benchmarks.md, "How far probabilities can be believed", has what this was compared with.
 *
 * The rates cannot know the share that is right better than the number of stacks allows: the bounds of all answers
 * together are at least as far apart as those of a binomial share (Wilson, 1927) of the stacks that were held out, with
 * their samples weighted in the same way. If none was, the bounds are 0 and 1.
 *
 * If no stack of the run was held out, and paths come from a map, all probabilities are scaled by how well parts of its
 * training predict each other (trained.h), and an answer's bounds are those of that comparison.
 */
#ifndef FATHOM_INFER_MODEL_CALIBRATION_H
#define FATHOM_INFER_MODEL_CALIBRATION_H

#include "infer/contexts/resolver.h"
#include "infer/model/trained.h"

struct calibration;

struct calibration *calibration_new(void); /* NULL: out of memory */
void calibration_free(struct calibration *calibration);
struct held_stack {
    uint64_t number; /* of the held-out stack */
    uint64_t path;   /* identifies its true path */
};
/* Notes the answer for one sample whose path is known. unseen: how many of its calls were never seen (pathmap_unseen()). 0 or
 * -ENOMEM. */
int calibration_note(struct calibration *calibration, const struct resolved *resolved, uint32_t unseen,
                     const struct held_stack *stack, bool right);
/* How many stacks were noted. */
size_t calibration_stacks(const struct calibration *calibration);
/* Call when all answers are noted; before that only the priors count. */
void calibration_settle(struct calibration *calibration);

/* Calibrates by the map's training from now on, as nothing of the run was compared. */
void calibration_train(struct calibration *calibration, const struct trained *trained);

/* factor: to multiply all probabilities of an answer by; 1 if they are believed as they are. least, most: the bounds of its own
 * probability. rate: the part of the factor for one unseen call, 1 if these do not matter; seen: the part for the frames that
 * were seen. */
struct belief {
    double factor, least, most, rate, seen;
};
struct belief calibration_belief(struct calibration *calibration, const struct resolved *resolved,
                                 uint32_t unseen);

#endif
