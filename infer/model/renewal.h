/*
 * renewal.h - how long calling contexts last, and which come after them.
 *
 * Between two samples of a thread its outermost contexts are still those that they were, down to some depth
 * d; the one at d + 1 was left, and the thread went on from there. With A_i the i-th context of A, x(c) the
 * chance that a context is left while the one around it stays, and B below A_d,
 *
 *     P(d, B | A) = prod over i <= d of (1 - x(A_i)) * x(A_d+1) * self(B) * x(B_d+1) / flow(A_d)
 *     flow(c) = self(c) + sum over the contexts n in it of below(n) * x(n)
 *
 * where x is 1 for what is not there (d is the whole of A or B). self: expected samples in a context itself;
 * below: in all of it. P(B | A) is the sum over all d that A and B share: the thread may have come back to
 * where it was. A context is thus entered as often as it is left: the sums over B are 1, and whatever a
 * thread does in between, over all times it is in A as often as self(A) says (self(A) P(B | A) is the same
 * with A and B exchanged, so the chain is reversible). A model that goes on to B by its samples alone, as if
 * those that last long were entered often, favours them wherever samples tell nothing.
 *
 * The sum over d depends on the innermost shared context alone but for its last part, so a step costs O(1)
 * beside finding that context. Over g usual gaps 1 - x becomes (1 - x)^g; g is rounded to a power of 2.
 *
 * x is learned from pairs of samples, for classes of contexts: how often these were left, of how many times
 * that they could have been without coming back. A class are contexts of which training counted as many calls
 * for each sample (a context of c calls a sample that last equally long is left with 1 - exp(-c)), or, where
 * training did not see every call, those whose samples lie as deep in them. (What few pairs tell of a single
 * context makes answers worse.) Pairs that tell it are those of samples that are sure, which are not like all
 * others: so x is divided by a strength that is the same for all contexts, and chosen by what it makes of the
 * whole recording (expectation.h).
 */
#ifndef FATHOM_INFER_MODEL_RENEWAL_H
#define FATHOM_INFER_MODEL_RENEWAL_H

#include "infer/model/lineage.h"

#define RENEWAL_LEVELS 6 /* gaps of 1/8 to 4 usual ones */

struct renewal;

/* lineage is borrowed. NULL: out of memory. */
struct renewal *renewal_new(struct lineage *lineage);
void renewal_free(struct renewal *renewal);

/* Takes in the contexts that the lineage has numbered since. 0 or -ENOMEM. */
int renewal_add_state(struct renewal *renewal);
/* Adds to (or takes from) what is expected in the context itself, the innermost of the path, all of which was
 * met. */
void renewal_expect(struct renewal *renewal, const struct ancestry *path, double samples);
/* All expected samples. */
double renewal_total(const struct renewal *renewal);
/* Counts a pair of samples of which the first is in the context, when the one around it stayed: it is worth
 * `all` chances to leave, and did so `left` times. */
void renewal_count(struct renewal *renewal, uint32_t context, double left, double all);
/* What was expected and counted becomes the model. */
void renewal_update(struct renewal *renewal);
/* The same, with contexts that are left so many times less often than pairs tell. 1 at first. */
void renewal_set_strength(struct renewal *renewal, double strength);

/* The level of a pair that lies this many usual gaps apart. */
uint32_t renewal_level(double gaps);
/* P(to | from) for each expected sample in `to` itself. */
double renewal_step(struct renewal *renewal, const struct ancestry *from, const struct ancestry *to,
                    uint32_t level);

#endif
