/*
 * inside.h - uses where in its function a sample is to distinguish its candidates: a caller that always passes the same
 * flag makes the function run other code than the next caller.
 *
 * Training's samples, and this run's unwound ones, show for each path how often they were where: in blocks of
 * INSIDE_FINE bytes within blocks of INSIDE_COARSE. With n of them on a path, n(B) in the coarse block, n(b) in the fine
 * one, and N the same over all paths of the CID,
 *
 *     P(B | path) = (n(B) + K * N(B) / N) / (n + K)
 *     P(b | path) = (n(b) + K * P(B | path) * N(b) / N(B)) / (n + K)
 *
 * so that paths with few samples are assumed to be like the others.
 */
#ifndef FATHOM_INFER_MODEL_INSIDE_H
#define FATHOM_INFER_MODEL_INSIDE_H

#include "infer/contexts/resolver.h"

#define INSIDE_COARSE  64u
#define INSIDE_FINE    16u
#define INSIDE_PRIOR   4.0      /* K: samples that the CID's other paths count as */
#define INSIDE_LEAST   16.0     /* minimum number of samples of a CID */
#define INSIDE_ANSWERS 1000000u /* stored at most; the samples after that are left unchanged */

struct inside;

struct inside *inside_new(struct resolver *resolver); /* borrowed. NULL: out of memory */
void inside_free(struct inside *inside);
/* Weights the candidates of a resolved sample if it has several and there is evidence; *resolved becomes the new answer. 0 or
 * -ENOMEM. */
int inside_resolved(struct inside *inside, struct resolved *resolved, struct fathom_error *err);

#endif
