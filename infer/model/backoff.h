/*
 * backoff.h - what a function calls, whatever stands further out: the lower orders to which the prediction of
 * a calling context backs off where it was seen too rarely (internal to infer/).
 *
 * A transition leads from the two innermost functions of a context to the next one. What counts is not how
 * often it was taken but in how many contexts (Kneser and Ney, 1995): a function that one hot loop calls is
 * no likelier elsewhere. With n(g2 g1 f) of them, their sum n, and k different f (Witten and Bell, 1991),
 *
 *     P(f | g2 g1) = (n(g2 g1 f) + k * P(f | g1)) / (n + k)
 *
 * and P(f | g1) the same of the g2, with BACKOFF_NEVER below it.
 */
#ifndef FATHOM_INFER_MODEL_BACKOFF_H
#define FATHOM_INFER_MODEL_BACKOFF_H

#include <stdint.h>

#define BACKOFF_NEVER   1e-3 /* a function is called that was never seen below the innermost one */
#define BACKOFF_NONE    UINT32_MAX
#define BACKOFF_STOP    (UINT32_MAX - 1) /* as the next function: none, the sample is in the innermost one */
#define BACKOFF_OUTSIDE (UINT32_MAX - 2) /* as a function: outside of the outermost one */

struct backoff;

struct backoff *backoff_new(void); /* NULL: out of memory */
void backoff_free(struct backoff *backoff);
/* The transition's number, made when new; BACKOFF_NONE: out of memory. */
uint32_t backoff_transition(struct backoff *backoff, uint32_t outer, uint32_t inner, uint32_t next);
/* It was seen in this many contexts more (fractions: less than surely in one; may be negative). */
void backoff_add(struct backoff *backoff, uint32_t transition, double contexts);
/* P(next | outer inner). */
double backoff_chance(const struct backoff *backoff, uint32_t transition);
/* A count as one kind: what was seen a fraction of a time is a fraction of a kind. */
double backoff_kind(double count);

#endif
