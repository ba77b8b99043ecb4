/*
 * image_calls.h - the calls of images (image/calls/calls.h), read once: all folds of cross-validation ask for them, and
 * they depend on the image alone. Reading is bounded by work: code that would cost more is not read, for all who ask in one
 * round. The first round is the reading of a recording, whose images are those of all rounds; each event has one more.
 */
#ifndef FATHOM_INFER_STATICS_IMAGE_CALLS_H
#define FATHOM_INFER_STATICS_IMAGE_CALLS_H

#include "base/work.h"
#include "image/calls/calls.h"

#define IMAGE_CALLS_STEPS 2            /* of work to read a byte of code */
#define IMAGE_CALLS_MOST  (128u << 20) /* steps, until something else is allowed */

struct image_calls;

struct image_calls *image_calls_new(void); /* NULL: out of memory */
void image_calls_free(struct image_calls *calls);
/* From now on, what the first round did not ask for is decided anew. */
void image_calls_next_round(struct image_calls *calls);
/* From now on so much work may be done to read images that were not asked for in this round. Returns what was left. */
uint64_t image_calls_allow(struct image_calls *calls, uint64_t steps);
/* *out: the image's, which must outlive `calls`, as what is returned does not; NULL: its code is not read. 0 or -ENOMEM. */
int image_calls_of(struct image_calls *calls, const struct image *image, const struct calls **out);

#endif
