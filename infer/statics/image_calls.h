/*
 * image_calls.h - the calls of images (image/calls/calls.h), read once: all folds of cross-validation ask for them, and they
 * depend on the image alone. Reading is bounded by work: code that would cost more is not read, for all who ask in one round.
 * The first round is the reading of a recording, and its images are valid in all rounds; each event has another round.
 */
#ifndef FATHOM_INFER_STATICS_IMAGE_CALLS_H
#define FATHOM_INFER_STATICS_IMAGE_CALLS_H

#include "base/work.h"
#include "image/calls/calls.h"

#define IMAGE_CALLS_STEPS 2            /* work to read a byte of code */
#define IMAGE_CALLS_MOST  (128u << 20) /* steps; the initial limit */

struct image_calls;

struct image_calls *image_calls_new(void); /* NULL: out of memory */
void image_calls_free(struct image_calls *calls);
/* Begins a round: images that the first round did not ask for are decided on again. */
void image_calls_next_round(struct image_calls *calls);
/* Sets how much work may be done to read images that were not asked for in this round yet. Returns what was left. */
uint64_t image_calls_allow(struct image_calls *calls, uint64_t steps);
/* *out: the image's calls, valid as long as `calls`, as the image must be; NULL: its code is not read. 0 or -ENOMEM. */
int image_calls_of(struct image_calls *calls, const struct image *image, const struct calls **out);

#endif
