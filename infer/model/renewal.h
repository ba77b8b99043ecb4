/*
 * renewal.h - how long calling contexts last, and which come after them.
 *
 * Between two samples of a thread its outermost contexts stay, down to some depth d; the one at d + 1 was left, and the
 * thread went on from there. With A_i the i-th context of A, x(c) the probability that a context is left while the one
 * around it stays, and B below A_d,
 *
 *     P(d, B | A) = prod over i <= d of (1 - x(A_i)) * x(A_d+1) * self(B) * x(B_d+1) / flow(A_d)
 *     flow(c)     = self(c) + sum over the contexts n in it of below(n) * x(n)
 *
 * where x is 1 for a context that does not exist (d is the whole of A or B). self: expected samples in a context itself;
 * below: in all of it. P(B | A) is the sum over all d that A and B share: the thread may have returned to where it was.
 * A context is thus entered as often as it is left: the sums over B are 1, and over all times a thread is in A as often
 * as self(A) says, whatever it does in between (self(A) P(B | A) is symmetric in A and B, so the chain is reversible). A
 * model that goes on to B in proportion to B's samples, as if those that last long were entered often, would favour them
 * wherever samples are ambiguous.
 *
 * Except for its last part, the sum over d depends only on the innermost shared context, so a step costs O(1) once that
 * is found. Over g usual gaps 1 - x becomes (1 - x)^g; g is rounded to a power of 2.
 *
 * x is learned from pairs of samples, for classes of contexts: how often these were left, out of how many times that they
 * could have been left without a return. A class has contexts with as many calls per sample, as counted in training (with
 * c calls per sample of equal length, a context is left with probability 1 - exp(-c)); or if training did not see every
 * call, contexts whose samples are as deep in them. (Values for single contexts, from few pairs, make answers worse.) The
 * pairs are of samples that are sure, which differ from the others: so x is divided by a strength that is the same for
 * all contexts, and chosen by its effect on the whole recording (expectation.h).
 */
#ifndef FATHOM_INFER_MODEL_RENEWAL_H
#define FATHOM_INFER_MODEL_RENEWAL_H

#include "infer/model/lineage.h"

#define RENEWAL_LEVELS 6 /* gaps from 1/8 to 4 usual ones */

struct renewal;

/* lineage is borrowed. NULL: out of memory. */
struct renewal *renewal_new(struct lineage *lineage);
void renewal_free(struct renewal *renewal);

/* Adds the contexts that the lineage has numbered since. 0 or -ENOMEM. */
int renewal_add_state(struct renewal *renewal);
/* Adds to (or subtracts from) the samples expected in the path's innermost context itself; all of its contexts were added. */
void renewal_expect(struct renewal *renewal, const struct ancestry *path, double samples);
/* All expected samples. */
double renewal_total(const struct renewal *renewal);
/* Counts a pair of samples, the first of which is in the context, if the context around it stayed: `all` chances to leave,
 * `left` of which were taken. */
void renewal_count(struct renewal *renewal, uint32_t context, double left, double all);
/* Makes what was expected and counted the model. */
void renewal_update(struct renewal *renewal);
/* The same, with contexts left this many times less often than the pairs show. Initially 1. */
void renewal_set_strength(struct renewal *renewal, double strength);

/* The level of a pair that is this many usual gaps apart. */
uint32_t renewal_level(double gaps);
/* P(to | from) per sample expected in `to` itself. */
double renewal_step(struct renewal *renewal, const struct ancestry *from, const struct ancestry *to,
                    uint32_t level);

#endif
