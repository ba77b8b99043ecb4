/*
 * script_frames.h - puts what an interpreter runs (perfdata/scripts.h) between the frames of its machine code: each call of its loop is followed by
 * the functions that this call runs.
 */
#ifndef FATHOM_PROFILE_SCRIPT_FRAMES_H
#define FATHOM_PROFILE_SCRIPT_FRAMES_H

#include <stdbool.h>

#include "perfdata/scripts.h"
#include "profile/frames.h"

struct script_frames;

/* frames: the report's, borrowed. lines: each function is followed by the line that runs or calls. alone: machine code is left out. NULL:
 * out of memory. */
struct script_frames *script_frames_new(struct frames *frames, bool lines, bool alone);
void script_frames_free(struct script_frames *scripts); /* NULL is allowed */
/* The path of `count` frames, the outermost first, with what the script's innermost function `innermost` and its callers add; what is inlined into the
 * interpreter's loop is left out where that runs a function. *out is valid until the next call. 0 or -ENOMEM.
 *
 * Calls of the loop and functions with which it was entered are told apart by their order: from the root, or from the inside where the
 * root is not known, or more calls are on the stack than functions can be of (greenlets). Where one of them has more, as at the moment of a call, what is left over stays beside the last pair. */
int script_frames_join(struct script_frames *scripts, const struct script_frame *innermost,
                       const uint32_t *path, size_t count, const uint32_t **out, size_t *out_count);

#endif
