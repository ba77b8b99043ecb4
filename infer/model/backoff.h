/*
 * backoff.h - what a function calls, whatever its outer frames: the lower orders that the prediction of a calling context
 * backs off to if the context was seen too rarely (internal to infer/).
 *
 * A transition leads from the two innermost functions of a context to the next one. It is counted by the number of
 * contexts it occurs in, not by how often it was taken (Kneser and Ney, 1995): a function that one hot loop calls is not
 * more probable elsewhere. With n(g2 g1 f) of them, their sum n, and k different f (Witten and Bell, 1991),
 *
 *     P(f | g2 g1) = (n(g2 g1 f) + k * P(f | g1)) / (n + k)
 *
 * and likewise P(f | g1) over all g2, with BACKOFF_NEVER below it.
 */
#ifndef FATHOM_INFER_MODEL_BACKOFF_H
#define FATHOM_INFER_MODEL_BACKOFF_H

#include <stdint.h>

#define BACKOFF_NEVER   1e-3 /* probability of a function that was never seen below the innermost one */
#define BACKOFF_NONE    UINT32_MAX
#define BACKOFF_STOP    (UINT32_MAX - 1) /* as the next function: none, the sample is in the innermost one */
#define BACKOFF_OUTSIDE (UINT32_MAX - 2) /* as a function: beyond the outermost one */

struct backoff;

struct backoff *backoff_new(void); /* NULL: out of memory */
void backoff_free(struct backoff *backoff);
/* The transition's number, created if new; BACKOFF_NONE: out of memory. */
uint32_t backoff_transition(struct backoff *backoff, uint32_t outer, uint32_t inner, uint32_t next);
/* Adds contexts in which it was seen (a fraction if it is uncertain; may be negative). */
void backoff_add(struct backoff *backoff, uint32_t transition, double contexts);
/* P(next | outer inner). */
double backoff_chance(const struct backoff *backoff, uint32_t transition);
/* How many kinds a count stands for: at most one. */
double backoff_kind(double count);

#endif
