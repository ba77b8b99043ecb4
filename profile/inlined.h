/*
 * inlined.h - what debug information says about an address in a function, as frames below it: the functions that are inlined
 * there, and source lines.
 */
#ifndef FATHOM_PROFILE_INLINED_H
#define FATHOM_PROFILE_INLINED_H

#include "image/cache.h"
#include "profile/alike_calls.h"
#include "profile/call_sites.h"
#include "profile/frames.h"

#define INLINED_SEVERAL "[several call sites]"
#define INLINED_MOST    80 /* frames below one function */

struct inlined;

/* most: show inlined functions, each below the one that it is inlined into (framing_options.inlined). lines: a line below each;
 * without inlined functions only the innermost line. places: instead of these, the instruction. frames and images are borrowed.
 * NULL: out of memory. */
struct inlined *inlined_new(struct frames *frames, struct image_cache *images, uint64_t most, bool lines,
                            bool places);
void inlined_free(struct inlined *inlined);

/* Items of the frames below the function that contains the address, from the outermost inwards. Returns how many, 0 if
 * nothing is known, or -ENOMEM. */
int inlined_at(struct inlined *inlined, const struct image *image, uint64_t address,
               uint32_t out[INLINED_MOST]);
/* The same for the call sites of a step in the function's code that calls `callee` (image NULL: unknown): their common
 * beginning, and INLINED_SEVERAL if they differ, or if unknown ones may. */
int inlined_call(struct inlined *inlined, const struct image *image, uint32_t function,
                 const struct call_step *step, const struct alike_callee *callee, uint32_t out[INLINED_MOST]);

#endif
