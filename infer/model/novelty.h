/*
 * novelty.h - how likely it is that a path leaves what training saw, where it leaves it.
 *
 * Below a context that training saw N times with U different functions below it, something new comes with a
 * chance of about U / (N + U) (Moffat's escape method C of prediction by partial matching: each of the U was
 * new once). So a path that leaves the trained ones under an interpreter's loop is likely, and one that
 * leaves them under main, which always called the same function, is not, whatever the calls below look like.
 */
#ifndef FATHOM_INFER_MODEL_NOVELTY_H
#define FATHOM_INFER_MODEL_NOVELTY_H

#include "infer/model/automaton.h"

struct novelty;

/* map is borrowed. NULL: out of memory. */
struct novelty *novelty_new(const struct pathmap *map);
void novelty_free(struct novelty *novelty);
/* The chance for a path from the root inwards: 1 when training saw it, or saw it as far as the images go of
 * which it saw every call. */
double novelty_of(struct novelty *novelty, const struct automaton_step *steps, size_t depth);

#endif
